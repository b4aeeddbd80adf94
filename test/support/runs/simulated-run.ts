import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { AuditFacts } from '../../../loadgen-node/observe/audit/network-audit.ts';
import { writeAudit } from '../../../loadgen-node/observe/audit/network-audit.ts';
import { composeAudit } from '../../../loadgen-node/run/audit/compose-audit.ts';
import { planRun } from '../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../../../loadgen-node/run/plan/run-settings.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import type {
  Query,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import { auditFacts } from './audit-facts.ts';
import { MemoryQsl } from '../../scenes/simulated-run/memory-qsl.ts';
import { SimulatedClock } from '../../scenes/clock.ts';

/** A run of the engine under simulated time, with settings as `longhaul run` takes them. */
export interface SimulatedRun {
  /** Folder for the logs; is made. */
  readonly folder: string;
  /** Flags of `longhaul run` by key, as texts: `{ scenario: 'Server', targetQps: '20', round: 'v4.1' }`. */
  readonly flags: Readonly<Record<string, string>>;
  /** Text of audit.config. */
  readonly auditConfig?: string;
  /** Samples of the library; ImageNet has 50,000. */
  readonly totalSamples?: number;
  readonly sutName?: string;
  /** Time of one sample in ns; the SUT has one worker and takes one after the other. Default: 5 ms. */
  readonly serviceNs?: (sampleIndex: number, sample: number) => number;
  /** Response to a sample. Default: the float32 that {@link labelOf} gives. */
  readonly responseOf?: (sampleIndex: number) => Uint8Array;
  /** Facts of network_audit.json; null: none is written. Default: two machines that did everything right. */
  readonly facts?: (facts: AuditFacts) => AuditFacts | null;
}

/** Label that the simulated model answers with. */
export function labelOf(sampleIndex: number): number {
  return (sampleIndex * 31 + 7) % 1000;
}

/** Runs it; the folder has the logs of a run over 600 s, if the flags say so, within a second. */
export async function simulateRun(run: SimulatedRun): Promise<TestOutcome> {
  const { folder, flags, auditConfig, totalSamples = 50_000 } = run;
  mkdirSync(folder, { recursive: true });
  const asked = { sut: '10.0.1.1:50051', benchmark: 'resnet50', output: folder, ...flags };
  const { values } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: asked,
  });
  const audit = auditConfig === undefined ? undefined : { name: 'audit.config', text: auditConfig };
  const plan = planRun(values as RunValues, { said: new Set(Object.keys(asked)), audit });
  const clock = new SimulatedClock(undefined, 4);
  const outcome = await clock.drive(
    runTest({
      sut: new OneWorkerSut(clock, run),
      qsl: new MemoryQsl(totalSamples, plan.rules.performanceSampleCount),
      settings: plan.settings,
      loadgen: plan.loadgen,
      configEvents: plan.configEvents,
      usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
      clock,
      log: { ...plan.log, outdir: folder },
      stallTimeoutNs: 3600e9,
      drainTimeoutNs: 2e9,
    }),
  );
  const { scenario, mode } = plan.settings;
  const base = auditFacts();
  const facts = (run.facts ?? ((same) => same))({
    ...base,
    run: { ...base.run, benchmark: 'resnet50', isOfficialBenchmark: true, scenario, mode },
  });
  if (facts !== null) writeAudit(folder, composeAudit(facts));
  return outcome;
}

/** Writes what the official accuracy script prints of an accuracy run in which so many labels are right. */
export function writeAccuracyText(folder: string, good: number, total: number): void {
  const percent = ((100 * good) / total).toFixed(3);
  writeFileSync(
    join(folder, 'accuracy.txt'),
    `accuracy=${percent}%, good=${good}, total=${total}\n`,
  );
}

class OneWorkerSut implements SystemUnderTest {
  readonly #clock: SimulatedClock;
  readonly #run: SimulatedRun;
  #sink: ResponseSink | null = null;
  #freeAtNs = 0;
  #sampleCount = 0;

  constructor(clock: SimulatedClock, run: SimulatedRun) {
    this.#clock = clock;
    this.#run = run;
  }

  async name(): Promise<string> {
    this.#clock.spend(2_500_000); // A round trip.
    return this.#run.sutName ?? 'Network SUT: sut-a';
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
  }

  issueQuery(query: Query): void {
    const { serviceNs = () => 5e6, responseOf = float32Of } = this.#run;
    for (let i = 0; i < query.sampleCount; i += 1) {
      const step = i * query.responseIdStride;
      const index = query.sampleIndices[query.sampleOffset + step] ?? -1;
      const begin = Math.max(this.#clock.nowNs(), this.#freeAtNs);
      this.#freeAtNs = begin + serviceNs(index, this.#sampleCount);
      this.#sampleCount += 1;
      const responseId = query.firstResponseId + step;
      this.#clock.callAt(this.#freeAtNs, () =>
        this.#sink?.complete(responseId, responseOf(index), 0, this.#clock.nowNs()),
      );
    }
  }

  flushQueries(): void {
    // Holds nothing back.
  }

  async stop(): Promise<void> {
    this.#sink = null;
  }
}

function float32Of(sampleIndex: number): Uint8Array {
  return new Uint8Array(new Float32Array([labelOf(sampleIndex)]).buffer);
}
