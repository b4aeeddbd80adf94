import { createRequire } from 'node:module';
import { messageOf, notInstalled } from '../../shared/base/errors/mlperf-error.ts';

/** Requests of LoadGen's thread, and the end of its test; the same numbers as in native/bridge.cc. */
export const REQUEST = { none: 0, name: 1, load: 2, unload: 3, ended: 4 } as const;

/** Bit of a count in the ring of queries: more samples of the same query follow in the next entry. */
export const HAS_MORE = 0x8000_0000;

/** Memory that both sides of the bridge read and write; what each holds stands in native/bridge.cc. */
export interface BridgeViews {
  readonly tails: Int32Array;
  readonly stamps: Float64Array;
  readonly queries: Uint32Array;
  readonly samples: Uint32Array;
  readonly done: Int32Array;
  readonly arena: Uint8Array;
}

/** Input of LoadGen's StartTest. Paths that are empty are not read. */
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
  /** Seeds in place of those of the files, as whole numbers; empty: those of the files. */
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
  /** Changed files as git names them, one per line; it depends on the folder of the build and may miss some. */
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
   * Whether LoadGen puts settings elsewhere than the header says that the bridge was compiled with.
   * @param conf A file with the values that native/bridge.cc looks for.
   */
  layoutDiffers(conf: string): boolean;
  /**
   * Starts the test, the only one of this process.
   * @param onEvent Heads of both rings, a value of {@link REQUEST}, and its samples or (at the end) why StartTest failed, or ''.
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
   * LoadGen sees no sample of them that is not outstanding. In a stream it may issue its next query before this returns.
   * @returns Head of the ring of queries in a stream; else 0
   */
  complete(count: number): number;
  completeOne(sample: number, bytes: Uint8Array, tokenCount: number): number;
  firstToken(sample: number, bytes: Uint8Array): void;
  release(): void;
  /** Ends the process at once; nothing is written any more. */
  hardExit(code: number): never;
}

/** @throws MlperfError `ERR_NOT_INSTALLED` where the file cannot be loaded */
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
