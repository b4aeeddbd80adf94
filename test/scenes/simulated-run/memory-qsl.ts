import type { QuerySampleLibrary } from '../../../shared/domain/system-under-test.ts';

/** A sample library without samples that knows which are loaded, and what was asked of it. */
export class MemoryQsl implements QuerySampleLibrary {
  readonly name = 'library of the test';
  readonly totalSampleCount: number;
  readonly performanceSampleCount: number;
  readonly loads: Uint32Array[] = [];
  readonly unloads: Uint32Array[] = [];
  readonly #loaded = new Set<number>();

  constructor(totalSampleCount: number, performanceSampleCount: number = totalSampleCount) {
    this.totalSampleCount = totalSampleCount;
    this.performanceSampleCount = performanceSampleCount;
  }

  isLoaded(sampleIndex: number): boolean {
    return this.#loaded.has(sampleIndex);
  }

  async loadSamplesToRam(sampleIndices: Uint32Array): Promise<void> {
    this.loads.push(sampleIndices.slice());
    for (const index of sampleIndices) this.#loaded.add(index);
  }

  async unloadSamplesFromRam(sampleIndices: Uint32Array): Promise<void> {
    this.unloads.push(sampleIndices.slice());
    this.#loaded.clear();
  }
}
