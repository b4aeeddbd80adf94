import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NO_SCHEME } from '../../../qdl/protocols/index.ts';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { ResolvedSetting, SettingSources } from '../../../shared/config/resolve-settings.ts';
import {
  addressList,
  count,
  type SettingTable,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { refuseUsedOutput } from '../../run/keep/earlier-run.ts';
import { NO_MODEL_VALUES, RUN_MODEL_OPTIONS } from '../../run/plan/model-options.ts';
import { refuseCppEngine } from '../../run/plan/run-engine.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { FIND_PEAK_SETTINGS, planFindPeak } from '../peak/find-peak-plan.ts';
import { ownNode } from './own-node.ts';

/** Settings of the verb, by their source. */
interface EfficiencyRequest {
  readonly own: SettingValues<typeof EFFICIENCY_OPTIONS>;
  readonly values: SettingValues<typeof SIDE_RUN_SETTINGS>;
  readonly settings: readonly ResolvedSetting[];
  /** Flags of the verb, and the file's section on the SUT. */
  readonly sut: SettingSources;
  /** All settings of `longhaul sut`. */
  readonly sutSettings: SettingTable;
}

/**
 * Plans a comparison. Settings of the SUT are checked at once: a node that is started would report
 * them to the terminal only.
 * @throws MlperfError `ERR_CONFIG_INVALID`, and whatever {@link planFindPeak} throws
 */
export function planEfficiency(request: EfficiencyRequest) {
  const { own, values, settings, sutSettings } = request;
  refuseCppEngine(values, 'efficiency compares two sides by one engine, longhaul');
  const mode = efficiencyMode(own, values.sut);
  const runValues = {
    ...NO_MODEL_VALUES,
    ...values,
    sut: values.sut ?? [],
    keepProbes: false,
    resume: false,
    repeats: own.repeats,
  };
  const { run, search, note } = planFindPeak(runValues, settings);
  const node = ownNode(request.sut, sutSettings, SIDE_RUN_SETTINGS);
  const isFile = values.output?.endsWith('.json') === true;
  const folder = isFile ? run.output.slice(0, -'.json'.length) : run.output;
  return {
    mode,
    run,
    note,
    folder,
    values: runValues,
    task: { search, repeats: own.repeats, runNs: run.settings.minDurationMs * 1e6 },
    node,
    inProcessFile: own.inProcess,
    file: isFile ? run.output : join(folder, 'longhaul_efficiency.json'),
  };
}

/**
 * Mode, runs, search and SUT node of a comparison, and its files: `folder` takes the logs, `file`
 * the result.
 */
export type EfficiencyPlan = ReturnType<typeof planEfficiency>;

/**
 * The result may be a file of any name, beside the folder of the runs.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function refuseUsedSides({ file, folder, values: { force } }: EfficiencyPlan): void {
  for (const used of [folder, join(folder, 'in-process'), join(folder, 'network')]) {
    refuseUsedOutput(used, force);
  }
  if (force || !existsSync(file)) return;
  throw new MlperfError('ERR_OUTPUT', `--output ${file} is there: --force replaces it`);
}

/**
 * Everything about the runs that has to be the same on both sides, without the searched load.
 */
export function questionOf(
  { plan, dataSetCheck }: PreparedRun,
  { values }: EfficiencyPlan,
): Record<string, string> {
  const { serverTargetQps: _qps, multiStreamSamplesPerQuery, ...settings } = plan.settings;
  const isStreams = plan.settings.scenario === 'MultiStream' && plan.round === 'v0.5';
  const asked = {
    benchmark: confNameOf(plan.rules),
    round: plan.round,
    dataSet: `${dataSetCheck.name}, ${dataSetCheck.sampleCount} samples, ${dataSetCheck.digest || 'generated'}`,
    encoding: plan.encodingName,
    rngLibrary: plan.loadgen.rngLibrary,
    ...settings,
    ...(isStreams ? {} : { multiStreamSamplesPerQuery }),
    precision: values.precision,
    confidence: values.confidence,
  };
  return Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, String(value)]));
}

/**
 * Settings left out: the side in process speaks no protocol, the other side speaks longhaul's own.
 */
const LEFT_OUT = ['keepProbes', 'resume', 'sut', ...Object.keys(RUN_MODEL_OPTIONS)];
type LeftOut = 'keepProbes' | 'resume' | 'sut' | keyof typeof RUN_MODEL_OPTIONS;

/** Settings of the runs and searches of both sides. */
export const SIDE_RUN_SETTINGS = {
  ...(Object.fromEntries(
    Object.entries(FIND_PEAK_SETTINGS).filter(([key]) => !LEFT_OUT.includes(key)),
  ) as unknown as Omit<typeof FIND_PEAK_SETTINGS, LeftOut>),
  sut: addressList('the SUT node, one; without it a node is started on this machine', {
    schemes: NO_SCHEME,
  }),
};

/** Settings of `longhaul efficiency` alone. */
export const EFFICIENCY_OPTIONS = {
  inProcessOnly: toggle('on the SUT machine: measure in process alone, for --in-process elsewhere'),
  inProcess: text('file', 'what --in-process-only left on the SUT machine; with --sut'),
  repeats: count({ min: 1, max: 100 }, 'whole runs on each side, in turns', { fallback: 5 }),
};

/** Where the two sides are measured. */
type EfficiencyMode = 'one-machine' | 'in-process-only' | 'two-machines';

/**
 * Mode by the flags.
 * @throws MlperfError `ERR_CONFIG_INVALID` for flags that contradict one another
 */
function efficiencyMode(
  { inProcess, inProcessOnly }: SettingValues<typeof EFFICIENCY_OPTIONS>,
  sut: readonly string[] | undefined,
): EfficiencyMode {
  if (inProcessOnly) {
    if (sut === undefined && inProcess === undefined) return 'in-process-only';
    throw configInvalid('--in-process-only measures no network: leave --sut and --in-process out');
  }
  if (sut === undefined) {
    if (inProcess === undefined) return 'one-machine';
    throw configInvalid('--in-process needs --sut: the node to compare with');
  }
  if (sut.length > 1) {
    throw configInvalid(
      `--sut names ${sut.length} nodes: efficiency compares one node with its own model in process`,
    );
  }
  if (inProcess !== undefined) return 'two-machines';
  throw configInvalid(
    '--sut needs --in-process FILE, made on the SUT machine by "longhaul efficiency --in-process-only --output FILE"; without --sut a node is started here',
  );
}
