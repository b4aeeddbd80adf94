import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { InProcessNode } from '../../../shared/domain/in-process-node.ts';
import { type InProcessContext, measureInProcess } from '../../run/in-process-run.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { KeptProbe } from '../peak/kept-probe.ts';
import { staysLoaded } from '../peak/network-probes.ts';
import type { RunProbe } from '../peak/probe.ts';
import { atLoad, boundOf, shortSettings } from '../peak/probe-settings.ts';

/** Folder for the logs of short runs, which are thrown away. */
const SHORT_FOLDER = '.probe';

/**
 * Runs probes on a model in this process, with the settings, seeds and rules that a probe over the network has: `full` ones
 * leave a run folder (`confirm-7` is probe 7).
 * @param output Folder of the search.
 */
export function inProcessProbes(
  prepared: PreparedRun,
  node: InProcessNode,
  context: InProcessContext,
  output: string,
): RunProbe {
  return async (spec) => {
    const isFull = spec.kind === 'full';
    const folder = join(output, isFull ? `confirm-${spec.number}` : SHORT_FOLDER);
    const { settings: base } = prepared.plan;
    const settings = isFull ? atLoad(base, spec.load) : shortSettings(base, spec);
    const plan = { ...prepared.plan, settings, output: folder };
    const kept = new KeptProbe();
    const { isDecided } = spec;
    try {
      const { outcome } = await measureInProcess({ ...prepared, plan }, node, context, {
        keepRecords: (set) => Promise.resolve(kept.keep(set)),
        ...(isFull ? {} : { qsl: staysLoaded(prepared.store) }),
        ...(isDecided !== undefined && { earlyEnd: { boundNs: boundOf(settings), isDecided } }),
      });
      const lagNsMax = isFull ? undefined : plan.generatorLagShareMax * boundOf(settings);
      return kept.outcome(outcome, isFull ? folder : undefined, lagNsMax);
    } finally {
      if (!isFull) rmSync(folder, { recursive: true, force: true });
    }
  };
}
