import { createRequire } from 'node:module';
import { messageOf, notInstalled } from '../../shared/base/errors/mlperf-error.ts';

/**
 * Requests of LoadGen's thread, and the end of its test; the same numbers as in native/bridge.cc.
 */
export const REQUEST = { none: 0, name: 1, load: 2, unload: 3, ended: 4 } as const;

/** Bit of a count in the query ring: the next entry has more samples of the same query. */
export const HAS_MORE = 0x8000_0000;

/** Memory shared by both sides of the bridge; native/bridge.cc documents its content. */
export interface BridgeViews {
  readonly tails: Int32Array;
  readonly stamps: Float64Array;
  readonly queries: Uint32Array;
  readonly samples: Uint32Array;
  readonly done: Int32Array;
  readonly arena: Uint8Array;
}

/** Input of LoadGen's StartTest. Empty paths are not read. */
export interface BridgeOptions {
  /** Index into SCENARIOS, and into TEST_MODES. */
  readonly scenario: number;
  readonly mode: number;
  readonly scenarioName: string;
  readonly model: string;
  readonly issueThreads: number;
  readonly mlperfConf: string;
  readonly userConf: string;
  readonly auditConf: string;
  readonly outdir: string;
  /** Seeds that replace those of the files, as whole numbers; empty: use the files. */
  readonly qslRngSeed: string;
  readonly sampleIndexRngSeed: string;
  readonly scheduleRngSeed: string;
  readonly prefixWithDatetime: boolean;
  readonly copyDetailToStdout: boolean;
  readonly copySummaryToStdout: boolean;
  readonly enableTrace: boolean;
  readonly qslName: string;
  readonly totalSamples: number;
  readonly performanceSamples: number;
}

/** Version and build of a LoadGen, as its library reports them. */
export interface LoadgenBuild {
  readonly version: string;
  /** Ten digits of the commit, or `NA`. */
  readonly gitRevision: string;
  /**
   * Changed files as listed by git, one per line; depends on the build folder and may be
   * incomplete.
   */
  readonly gitStatus: string;
  readonly buildDate: string;
  /** `SHA1 /FILE` per line. */
  readonly sha1OfFiles: string;
  /** Compiler of the bridge, and its C++ library. */
  readonly compiler: string;
  readonly library: string;
}

/** Functions of the linked native module. */
export interface BridgeAddon {
  build(): LoadgenBuild;
  /**
   * True if LoadGen's settings have another memory layout than the header used to compile the
   * bridge.
   * @param conf A file with the values that native/bridge.cc expects.
   */
  layoutDiffers(conf: string): boolean;
  /**
   * Starts the test, the only one of this process.
   * @param onEvent Receives the heads of both rings, a value of {@link REQUEST}, and its samples
   *   or (at the end) why StartTest failed, or ''.
   */
  start(
    options: BridgeOptions,
    views: BridgeViews,
    onEvent: (
      queryHead: number,
      sampleHead: number,
      request: number,
      detail: Uint32Array | string | undefined,
    ) => void,
  ): void;
  reply(name?: string): void;
  /**
   * Passes completions of outstanding samples to LoadGen. In SingleStream and MultiStream it may
   * issue its next query before this returns.
   * @returns Head of the query ring in SingleStream and MultiStream; else 0
   */
  complete(count: number): number;
  completeOne(sample: number, bytes: Uint8Array, tokenCount: number): number;
  firstToken(sample: number, bytes: Uint8Array): void;
  release(): void;
  /** Ends the process at once, without writing anything more. */
  hardExit(code: number): never;
}

/** @throws MlperfError `ERR_NOT_INSTALLED` if the file cannot be loaded */
export function loadAddon(path: string): BridgeAddon {
  try {
    return createRequire(import.meta.url)(path) as BridgeAddon;
  } catch (error) {
    throw notInstalled(
      `${path} cannot be loaded: ${messageOf(error)}; link LoadGen again: longhaul loadgen link --inference-dir DIR`,
      error,
    );
  }
}
