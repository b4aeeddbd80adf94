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

/** Default length of a warm-up, as a share of the minimum run length, and its longest length. */
const SHARE_OF_RUN = 0.1;
const WARM_UP_MS_MAX = 2_000;

/** Samples of a warm-up: zeros, as long as the data set's first sample, within a memory limit. */
const SAMPLE_COUNT = 64;
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** Share of the rate of one-at-a-time queries that the warm-up sends at. */
const SERVER_SHARE = 0.5;

/** Latency for which queries are planned, so that there are enough for any SUT. */
const EXPECTED_LATENCY_NS = 20_000;

/** Runs one test of a warm-up; supplied by the session, which runs every test. */
export type WarmUpTest = (
  plan: RunPlan,
  qdl: QueryDispatchLibrary,
  payloads: QuerySampleLibrary,
  host: RunHost,
) => Promise<TestOutcome>;

/**
 * The warm-up before a run. A JIT compiler makes code fast only after some thousand calls; until
 * then latencies are those of the interpreter, on both ends. The warm-up uses the same path as the
 * run's queries (engine, QDL, link, the node's streams) with its own connections and streams; nodes
 * answer without the model, and do not count it. No sample of the data set is sent, and LoadGen's
 * logs do not count it. (MLPerf: untimed operations before a run "may include [...] compilation,
 * cache warmup".)
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
   * Warms up once for all runs with these nodes, if all nodes support it. Without it the start of a
   * run is slower, nothing else.
   * @param nodes Must be connected.
   * @throws MlperfError `ERR_SUT_LOST` if a node broke during the warm-up and is gone
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
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    // After a signal nobody waits for the warm-up: the process may end first.
    process.once('exit', remove);
    try {
      host.progress?.('warming up', `${ms / 1e3} s, without samples of the data set`);
      // Nothing of the run except its path to the nodes.
      const own = { arrivals: undefined, departures: [], log: {}, output: folder };
      await this.#warmUp({ ...plan, ...own }, host, ms, test);
    } catch (error) {
      // If the same fails in the run, the run reports it better.
      this.#fault ??= messageOf(error);
    } finally {
      host.progress?.(null);
      process.off('exit', remove);
      remove();
    }
    if (this.#fault !== undefined && !host.signal.aborted) await this.#requireNodes(plan);
  }

  /** Checked here: later the run could only report that no node answers. */
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

  /** Lines for the logs of the following runs; empty without a warm-up. */
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
    /** @returns Queries per second; undefined if not measured. */
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
  // Nodes of other protocols would run their model.
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
