import { mkdirSync } from 'node:fs';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { RecordedSet, TestSetup } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import type { TestOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import { type AuditFacts, writeAudit } from '../../../loadgen-node/observe/network-audit.ts';
import {
  joinRecords,
  recordsOfSet,
  type SampleRecords,
} from '../../../loadgen-node/observe/records/sample-records.ts';
import { composeAudit } from '../../../loadgen-node/run/audit/compose-audit.ts';
import type { RunHost } from '../../../loadgen-node/run/host/host.ts';
import { planRun } from '../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../../../loadgen-node/run/plan/run-settings.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { SimulatedClock } from '../clock.ts';
import { tempFolder } from '../host/folders.ts';
import { auditFacts } from './audit-facts.ts';
import { MemoryQsl } from './memory-qsl.ts';
import { SimulatedSut, type SutOptions } from './simulated-sut.ts';

/** Seeds of round v4.1 over LoadGen's defaults. */
export const V41_SETTINGS: TestSettings = {
  ...defaultTestSettings(),
  qslRngSeed: 3066443479025735752n,
  sampleIndexRngSeed: 10688027786191513374n,
  scheduleRngSeed: 14962580496156340209n,
};

/** Shows nothing, and ends nothing. */
export const SILENT_HOST: RunHost = { report: () => {}, signal: new AbortController().signal };

/** A test under simulated time. */
export type SimulatedTest = ReturnType<typeof simulatedTest>;

/**
 * Sets a test up; `run` runs it to its end. Call it inside a test, or name a folder for the logs.
 */
export function simulatedTest(
  settings: Partial<TestSettings>,
  sutOptions: SutOptions = {},
  qsl: MemoryQsl = new MemoryQsl(100),
  { clock = new SimulatedClock(), outdir = tempFolder() } = {},
) {
  const sut = new SimulatedSut(clock, {
    isLoaded: (index) => qsl.isLoaded(index),
    ...sutOptions,
  });
  const run = (other: Partial<TestSetup> = {}): Promise<TestOutcome> =>
    clock.drive(
      runTest({
        ...{ sut, qsl, clock, stallTimeoutNs: 30e9, drainTimeoutNs: 2e9 },
        settings: { ...V41_SETTINGS, ...settings },
        ...other,
        log: { outdir, ...other.log },
      }),
    );
  /** Runs it and keeps its records. @throws Error without a performance phase. */
  const measure = async (other: Partial<TestSetup> = {}) => {
    const parts: SampleRecords[] = [];
    const keepRecords = async (set: RecordedSet): Promise<void> =>
      void parts.push(recordsOfSet(set));
    const observer = { ...other.observer, keepRecords };
    const { performance } = await run({ ...other, observer });
    if (performance === null) throw new Error('no performance phase');
    return { performance, records: joinRecords(parts) };
  };
  return { clock, sut, qsl, outdir, run, measure };
}

/** A run of the engine under simulated time, with settings as `longhaul run` takes them. */
export interface SimulatedRun extends Pick<SutOptions, 'responseOf' | 'hasTokens'> {
  /** Folder for the logs; is made. */
  readonly folder: string;
  /**
   * Flags of `longhaul run` by key, as texts:
   * `{ scenario: 'Server', targetQps: '20', round: 'v4.1' }`.
   */
  readonly flags: Readonly<Record<string, string>>;
  /** Text of audit.config. */
  readonly auditConfig?: string;
  /** Samples of the library; ImageNet has 50,000. */
  readonly totalSamples?: number;
  readonly sutName?: string;
  /**
   * Time of one sample in ns; the SUT has one worker and takes one after the other. Default: 5 ms.
   */
  readonly serviceNs?: (sampleIndex: number, sample: number) => number;
  /**
   * Facts of network_audit.json; null: none is written. Default: two machines that did everything
   * right.
   */
  readonly facts?: (facts: AuditFacts) => AuditFacts | null;
}

/** Label that the simulated model answers with. */
export function labelOf(sampleIndex: number): number {
  return (sampleIndex * 31 + 7) % 1000;
}

/** A response of the simulated model. */
export function float32(value: number): Uint8Array {
  return new Uint8Array(new Float32Array([value]).buffer);
}

/** Runs it; the folder has the logs of a run over 600 s, if the flags say so, within a second. */
export async function simulateRun(run: SimulatedRun): Promise<TestOutcome> {
  const { folder, flags, auditConfig, totalSamples = 50_000, serviceNs = () => 5e6 } = run;
  mkdirSync(folder, { recursive: true });
  const asked = { sut: '10.0.1.1:50051', benchmark: 'resnet50', output: folder, ...flags };
  const { values } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: asked,
  });
  const audit = auditConfig === undefined ? undefined : { name: 'audit.config', text: auditConfig };
  const plan = planRun(values as RunValues, { said: new Set(Object.keys(asked)), audit });
  const { responseOf = (index) => float32(labelOf(index)), hasTokens } = run;
  const { sutName = 'Network SUT: sut-a' } = run;
  const test = simulatedTest(
    plan.settings,
    {
      ...{ isQueue: true, responseOf, hasTokens, names: [sutName] },
      serviceNs: (sample, sampleIndex) => serviceNs(sampleIndex, sample),
      // A round trip.
      nameNs: 2_500_000,
    },
    new MemoryQsl(totalSamples, plan.rules.performanceSampleCount),
    { clock: new SimulatedClock(undefined, 4), outdir: folder },
  );
  const { loadgen, configEvents, usesTokenLatenciesBeforeAudit } = plan;
  const outcome = await test.run({
    ...{ loadgen, configEvents, usesTokenLatenciesBeforeAudit, stallTimeoutNs: 3600e9 },
    log: { ...plan.log, outdir: folder },
  });
  const { scenario, mode } = plan.settings;
  const base = auditFacts();
  const facts = (run.facts ?? ((same) => same))({
    ...base,
    run: { ...base.run, benchmark: 'resnet50', isOfficialBenchmark: true, scenario, mode },
  });
  if (facts !== null) writeAudit(folder, composeAudit(facts));
  return outcome;
}
