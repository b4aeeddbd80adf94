import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  askNames,
  createQueryDispatchLibrary,
  type QdlNode,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import { at } from '../../../shared/base/at.ts';
import { messageOf, sutLost } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  QuerySampleLibrary,
  SamplePayloads,
} from '../../../shared/domain/system-under-test.ts';
import { WARM_UP_FEATURE } from '../../../shared/wire/sut-contract.ts';
import type { LoggedDetail } from '../../loadgen/engine/test-context.ts';
import type { PerformanceOutcome, TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import { defaultTestSettings, type TestSettings } from '../../loadgen/settings/test-settings.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import type { RunHost } from '../host/host.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { onlyTarget } from '../plan/target.ts';

/** Without a setting a warm-up takes this share of the shortest run, and no longer than that. */
const SHARE_OF_RUN = 0.1;
const WARM_UP_MS_MAX = 2_000;

/** Samples of a warm-up, which are zeros as long as the data set's first sample, and the most memory that they take. */
const SAMPLE_COUNT = 64;
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** The warm-up sends at this share of the rate that one query at a time reaches. */
const SERVER_SHARE = 0.5;

/** Queries are planned for this latency, so that there are enough of them for any SUT. */
const EXPECTED_LATENCY_NS = 20_000;

/** Runs one test of a warm-up. The session does, as it runs every test. */
export type WarmUpTest = (
  plan: RunPlan,
  qdl: QueryDispatchLibrary,
  payloads: QuerySampleLibrary,
  host: RunHost,
) => Promise<TestOutcome>;

/**
 * The warm-up before a run: a JIT compiler makes code fast after some thousand uses only, and until then latencies are those of
 * the interpreter, on both ends. It goes the way of the run's queries, through the engine, the QDL, the link and the node's
 * streams, with connections and streams of its own; the nodes answer by themselves, without the model, and do not count it.
 * No sample of the data set is sent, and LoadGen's logs do not count it. (MLPerf: untimed operations before a run "may include
 * [...] compilation, cache warmup".)
 */
export class WarmUp {
  readonly #dataSet: DataSet;
  #isDone = false;
  #ms = 0;
  #queryCount = 0;
  #fault: string | undefined;

  constructor(dataSet: DataSet) {
    this.#dataSet = dataSet;
  }

  /**
   * Warms up, once for all runs with these nodes, where all of them know it. A run without it is slower at its beginning, no more.
   * @param nodes They are connected.
   * @throws MlperfError `ERR_SUT_LOST` where a node broke in it and is gone
   */
  async once(
    plan: RunPlan,
    host: RunHost,
    nodes: readonly QdlNode[],
    test: WarmUpTest,
  ): Promise<void> {
    const ms = durationMs(plan);
    const knows = (node: QdlNode): boolean =>
      node.evidence().description?.features.includes(WARM_UP_FEATURE) === true;
    if (this.#isDone || ms <= 0 || !nodes.every(knows)) return;
    this.#isDone = true;
    this.#ms = ms;
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-warm-up-'));
    try {
      host.progress?.('warming up', `${ms / 1e3} s, without samples of the data set`);
      // Nothing of the run but its way to the nodes.
      const own = { arrivals: undefined, departures: [], log: {}, output: folder };
      await this.#warmUp({ ...plan, ...own }, host, ms, test);
    } catch (error) {
      // The run says better what is wrong, if it is wrong there, too.
      this.#fault ??= messageOf(error);
    } finally {
      host.progress?.(null);
      rmSync(folder, { recursive: true, force: true });
    }
    if (this.#fault !== undefined && !host.signal.aborted) await this.#requireNodes(plan);
  }

  /** Later the run would only say that no node answers. */
  async #requireNodes(plan: RunPlan): Promise<void> {
    try {
      await askNames(onlyTarget(plan).dispatch);
    } catch (error) {
      const now = messageOf(error);
      const also = now === this.#fault ? '' : `; now ${now}`;
      const what = 'the SUT broke in the warm-up, before the first query of the run';
      throw sutLost(`${what}: ${this.#fault}${also}`);
    }
  }

  /** For the logs of the runs behind it; empty without a warm-up. */
  get details(): readonly LoggedDetail[] {
    if (this.#ms === 0) return [];
    const value = {
      milliseconds: `${this.#ms}`,
      queries: `${this.#queryCount}`,
      ...(this.#fault !== undefined && { error: this.#fault }),
    };
    return [{ key: 'longhaul_warm_up', value }];
  }

  #noteLoss(qdl: QueryDispatchLibrary, phase: PerformanceOutcome | null): void {
    const lost = qdl.nodes.filter((_, i) => qdl.activity()[i]?.isLost);
    if (lost.length === 0) return;
    const addresses = lost.map(({ address }) => address).join(', ');
    this.#fault ??= phase?.faultText ?? `SUT node ${addresses} was lost`;
  }

  async #warmUp(plan: RunPlan, host: RunHost, ms: number, test: WarmUpTest): Promise<void> {
    const { encoding } = plan.compression;
    const { length } = await this.#dataSet.readPayload(0, encoding.form);
    const isServer = plan.settings.scenario === 'Server';
    const partMs = Math.ceil(isServer ? ms / 2 : ms);
    const lasting = { minQueryCount: 1, minDurationMs: partMs, maxDurationMs: partMs };
    /** @returns Queries per second; undefined where not measured. */
    const run = async (own: Partial<TestSettings>): Promise<number | undefined> => {
      const payloads = new Zeros(length, encoding);
      const dispatch = {
        ...onlyTarget(plan).dispatch,
        isWarmUp: true as const,
        tokenLatencies: false,
        tokenTimes: false,
      };
      const qdl = await createQueryDispatchLibrary(dispatch, payloads);
      await qdl.connect();
      const settings = { ...defaultTestSettings(), ...lasting, ...own };
      const { performance: phase } = await test({ ...plan, settings }, qdl, payloads, host);
      this.#queryCount += phase?.counts.completedQueries ?? 0;
      this.#noteLoss(qdl, phase);
      if (this.#fault !== undefined) return undefined;
      if (phase === null || phase.durationNs <= 0) return undefined;
      return (phase.counts.completedQueries * 1e9) / phase.durationNs;
    };
    const qps = await run({
      scenario: 'SingleStream',
      singleStreamExpectedLatencyNs: EXPECTED_LATENCY_NS,
    });
    if (!isServer || qps === undefined) return;
    await run({ scenario: 'Server', serverTargetQps: qps * SERVER_SHARE });
  }
}

function durationMs(plan: RunPlan): number {
  const { settings, warmUpNs } = plan;
  // Nodes of other protocols would answer with their model.
  if (!onlyTarget(plan).protocol.traits.hasWarmUp || settings.mode === 'AccuracyOnly') return 0;
  if (warmUpNs !== undefined) return warmUpNs / 1e6;
  return Math.min(WARM_UP_MS_MAX, settings.minDurationMs * SHARE_OF_RUN);
}

/** A sample library of zeros. */
class Zeros implements QuerySampleLibrary, SamplePayloads {
  readonly name = 'warm-up';
  readonly totalSampleCount = SAMPLE_COUNT;
  readonly performanceSampleCount = SAMPLE_COUNT;
  readonly encoding: SamplePayloads['encoding'];
  readonly #payloads: readonly Uint8Array[];

  constructor(length: number, encoding: SamplePayloads['encoding']) {
    this.encoding = encoding;
    const count = Math.max(1, Math.min(SAMPLE_COUNT, Math.floor(PAYLOAD_BYTES_MAX / length)));
    this.#payloads = Array.from({ length: count }, () => new Uint8Array(length));
  }

  payloadOf(sampleIndex: number): Uint8Array {
    return at(this.#payloads, sampleIndex % this.#payloads.length);
  }

  loadSamplesToRam(): Promise<void> {
    return Promise.resolve();
  }

  unloadSamplesFromRam(): Promise<void> {
    return Promise.resolve();
  }
}
