import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createQueryDispatchLibrary } from '../../../qdl/index.ts';
import type { Terminal } from '../../../shared/base/process/terminal.ts';
import type { QuerySampleLibrary } from '../../../shared/domain/query-sample-library.ts';
import { monotonicClock } from '../../loadgen/engine/monotonic-clock.ts';
import { startTest } from '../../loadgen/engine/start-test.ts';
import type { Interruption } from '../../run/interruption.ts';
import { drainTimeoutNs, measureRun } from '../../run/perform-run.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { KeptProbe } from './kept-probe.ts';
import type { ProbeOutcome, ProbeSpec, RunProbe } from './probe.ts';
import { atLoad, boundOf, shortSettings } from './probe-settings.ts';

/** What the probes of a search over the network share. */
export interface NetworkProbeParts {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  /** Folder of the search: full runs leave their run folder below it (`confirm-7` is probe 7). */
  readonly output: string;
  /** True: screenings leave their logs too (`probe-3`). */
  readonly keepsProbes: boolean;
  /** Text of `longhaul_run.yaml` of a full run at this load; default: none is kept. */
  readonly recordOf?: (load: number) => string;
}

/** Runs probes over the network, with names, data set and store that are ready. */
export function networkProbes(prepared: PreparedRun, parts: NetworkProbeParts): RunProbe {
  return async (spec) =>
    spec.kind === 'full'
      ? await fullProbe(prepared, parts, spec)
      : await shortProbe(prepared, parts, spec);
}

/** A run as `longhaul run` makes it, with all that is said and written of it. */
async function fullProbe(
  prepared: PreparedRun,
  { terminal, interruption, output, recordOf }: NetworkProbeParts,
  { load, number }: ProbeSpec,
): Promise<ProbeOutcome> {
  const folder = join(output, `confirm-${number}`);
  const plan: RunPlan = {
    ...prepared.plan,
    settings: atLoad(prepared.plan.settings, load),
    output: folder,
    record: recordOf?.(load),
  };
  const kept = new KeptProbe();
  const report = await measureRun({ ...prepared, plan, onSet: kept.keep }, terminal, interruption);
  return kept.outcome(report.outcome, folder);
}

/** A short run whose logs are thrown away, on schedules of its own. */
async function shortProbe(
  { plan: base, store }: PreparedRun,
  { terminal, interruption, output, keepsProbes }: NetworkProbeParts,
  spec: ProbeSpec,
): Promise<ProbeOutcome> {
  const folder = join(output, keepsProbes ? `probe-${spec.number}` : '.probe');
  const plan: RunPlan = { ...base, settings: shortSettings(base.settings, spec) };
  const qdl = createQueryDispatchLibrary(plan.dispatch, store);
  try {
    await interruption.orAbort(qdl.connect(() => {}));
  } catch (error) {
    await qdl.stop(); // Later on the engine sees to that.
    throw error;
  }
  const kept = new KeptProbe();
  const { isDecided } = spec;
  try {
    const outcome = await startTest({
      sut: qdl,
      qsl: staysLoaded(store),
      settings: plan.settings,
      loadgen: plan.loadgen,
      clock: monotonicClock,
      log: { ...plan.log, outdir: folder, enableTrace: false },
      stallTimeoutNs: plan.stallTimeoutNs,
      drainTimeoutNs: drainTimeoutNs(plan),
      generatorLagShareMax: plan.generatorLagShareMax,
      signal: interruption.signal,
      keepRecords: async (set) => kept.keep(set),
      onProgress: ({ elapsedNs, issuedQueries, generatedQueries }) =>
        terminal.status(
          `probe ${spec.number}`,
          `${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries} of at most ${generatedQueries} queries issued`,
        ),
      ...(isDecided === undefined
        ? {}
        : { earlyEnd: { boundNs: boundOf(plan.settings), isDecided } }),
    });
    const lagNsMax = plan.generatorLagShareMax * boundOf(plan.settings);
    return kept.outcome(outcome, keepsProbes ? folder : undefined, lagNsMax);
  } finally {
    terminal.clear();
    if (!keepsProbes) rmSync(folder, { recursive: true, force: true });
  }
}

/** The samples are the same in every probe: loading them anew would take longer than the probe. */
export function staysLoaded(store: QuerySampleLibrary): QuerySampleLibrary {
  return {
    name: store.name,
    totalSampleCount: store.totalSampleCount,
    performanceSampleCount: store.performanceSampleCount,
    loadSamplesToRam: (sampleIndices) => store.loadSamplesToRam(sampleIndices),
    unloadSamplesFromRam: () => Promise.resolve(),
  };
}
