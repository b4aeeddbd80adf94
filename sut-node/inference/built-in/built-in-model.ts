import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { Batch, ModelContext, SutModel } from '../batcher/sut-model.ts';

/** What is told of a model that is none: no tensors and no file, so no weights that could be the wrong ones. */
export const NO_MODEL: LoadedModel = {
  tensors: { inputs: [], outputs: [] },
  sha256: '',
  isStandIn: false,
};

/** A model without ONNX, on the node's I/O thread: there is nothing to load and there are no workers. */
export abstract class BuiltInModel implements SutModel {
  readonly rules: BenchmarkRules;
  /** It looks into no payload, so it would decompress none. */
  readonly compressions: SutModel['compressions'] = ['identity'];
  readonly sampleElements = 1;
  readonly responseBytesMax: number | undefined;

  /**
   * @param key Key of the benchmark.
   * @param responseBytesMax Undefined where a response may have any length.
   */
  constructor(key: string, responseBytesMax: number | undefined) {
    this.rules = benchmarkRules(key);
    this.responseBytesMax = responseBytesMax;
  }

  abstract readonly hasIdle: boolean;
  abstract run(batch: Batch): void;

  get name(): string {
    return this.rules.key;
  }

  get hasRoom(): boolean {
    return this.hasIdle;
  }

  load(_context: ModelContext): Promise<LoadedModel> {
    return Promise.resolve(NO_MODEL);
  }

  warmUp(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
