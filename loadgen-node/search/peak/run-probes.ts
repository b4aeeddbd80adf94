import { join } from 'node:path';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import type { RunSut } from '../../run/run-sut.ts';
import { measureSut, probe } from '../../run/session.ts';
import { KeptProbe } from './kept-probe.ts';
import type { ProbeOutcome, ProbeSpec, RunProbe } from './probe.ts';
import { atLoad, boundOf, shortSettings } from './probe-settings.ts';

/** What the probes of a search share. */
export interface ProbeParts {
  readonly host: RunHost;
  /** The SUT of each probe, made anew. */
  readonly sutOf: (plan: RunPlan) => RunSut;
  /** Folder of the search: full runs leave their run folder below it (`confirm-7` is probe 7). */
  readonly output: string;
  /** True: screenings leave their logs too (`probe-3`). */
  readonly keepsProbes: boolean;
  /** Text of `longhaul_run.yaml` of a full run at this load; default: none is kept. */
  readonly recordOf?: (load: number) => string;
}

/** Runs probes, over a network or in this process, with names, data set and store that are ready. */
export function runProbes(prepared: PreparedRun, parts: ProbeParts): RunProbe {
  return async (spec) =>
    spec.kind === 'full'
      ? await fullProbe(prepared, parts, spec)
      : await shortProbe(prepared, parts, spec);
}

/** A run as `longhaul run` makes it, with all that it leaves. */
async function fullProbe(
  prepared: PreparedRun,
  { host, sutOf, output, recordOf }: ProbeParts,
  { load, number }: ProbeSpec,
): Promise<ProbeOutcome> {
  const folder = join(output, `confirm-${number}`);
  const plan: RunPlan = {
    ...prepared.plan,
    settings: atLoad(prepared.plan.settings, load),
    output: folder,
    record: recordOf?.(load),
  };
  // A probe that was cut: no result, and the search makes it again.
  replaceEarlierRun(folder, { report: () => {} });
  const kept = new KeptProbe();
  const observers = { onSet: kept.keep };
  const { outcome } = await measureSut(plan, prepared, sutOf(plan), host, observers);
  return kept.outcome(outcome, folder);
}

/** A short run, on schedules of its own. */
async function shortProbe(
  { plan: base, store }: PreparedRun,
  { host, sutOf, output, keepsProbes }: ProbeParts,
  spec: ProbeSpec,
): Promise<ProbeOutcome> {
  const folder = join(output, keepsProbes ? `probe-${spec.number}` : '.probe');
  const settings = shortSettings(base.settings, spec);
  const plan: RunPlan = { ...base, settings, output: folder };
  const kept = new KeptProbe();
  const { isDecided } = spec;
  const boundNs = boundOf(settings);
  const outcome = await probe(plan, store, sutOf(plan), host, {
    ...{ name: `probe ${spec.number}`, onSet: kept.keep, keepsLogs: keepsProbes },
    earlyEnd: isDecided && { boundNs, isDecided },
  });
  const lagNsMax = plan.generatorLagShareMax * boundNs;
  return kept.outcome(outcome, keepsProbes ? folder : undefined, lagNsMax);
}
