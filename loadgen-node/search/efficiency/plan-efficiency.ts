import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { ResolvedSetting, SettingSources } from '../../../shared/config/resolve-settings.ts';
import type { SettingTable, SettingValues } from '../../../shared/config/setting.ts';
import { refuseUsedOutput } from '../../run/keep/earlier-run.ts';
import { NO_OIP_VALUES } from '../../run/plan/oip-options.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { type OwnNode, ownNode } from '../own-node.ts';
import { planFindPeak } from '../peak/find-peak-plan.ts';
import type { FindPeakValues } from '../peak/find-peak-settings.ts';
import {
  type EFFICIENCY_OPTIONS,
  type EfficiencyMode,
  efficiencyMode,
  SIDE_RUN_SETTINGS,
} from './efficiency-settings.ts';
import type { SideTask } from './measure-sides.ts';

/** What the flags and the file ask for. */
export interface EfficiencyRequest {
  readonly own: SettingValues<typeof EFFICIENCY_OPTIONS>;
  readonly values: SettingValues<typeof SIDE_RUN_SETTINGS>;
  readonly settings: readonly ResolvedSetting[];
  /** Flags of the verb, and the file's section on the SUT. */
  readonly sut: SettingSources;
  /** All settings of `longhaul sut`. */
  readonly sutSettings: SettingTable;
}

/** What is compared, and where it is written. */
export interface EfficiencyPlan {
  readonly mode: EfficiencyMode;
  readonly run: RunPlan;
  readonly values: FindPeakValues & { readonly repeats: number };
  readonly task: Omit<SideTask, 'loadsOf' | 'question'>;
  readonly node: OwnNode;
  readonly inProcessFile: string | undefined;
  /** Where the JSON file goes, and the folder for the logs. */
  readonly file: string;
  readonly folder: string;
  /** What the search makes longer than it was asked for; undefined where it makes nothing longer. */
  readonly note: string | undefined;
}

/**
 * Plans a comparison. Settings of the SUT are checked at once: a node that is started would report them to the terminal only.
 * @throws MlperfError `ERR_CONFIG_INVALID`, and whatever {@link planFindPeak} throws
 */
export function planEfficiency(request: EfficiencyRequest): EfficiencyPlan {
  const { own, values, settings, sutSettings } = request;
  const mode = efficiencyMode(own, values.sut);
  const runValues = {
    ...NO_OIP_VALUES,
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
    ...{ mode, run, note, folder },
    values: runValues,
    task: { search, repeats: own.repeats },
    node,
    inProcessFile: own.inProcess,
    file: isFile ? run.output : join(folder, 'longhaul_efficiency.json'),
  };
}

/** The result may be a file of any name, beside the folder of the runs. @throws MlperfError `ERR_OUTPUT` */
export function refuseUsedSides({ file, folder, values: { force } }: EfficiencyPlan): void {
  for (const used of [folder, join(folder, 'in-process'), join(folder, 'network')]) {
    refuseUsedOutput(used, force);
  }
  if (force || !existsSync(file)) return;
  throw new MlperfError('ERR_OUTPUT', `--output ${file} is there: --force replaces it`);
}

/** Everything about the runs that has to be the same on both sides. The searched load is none of it. */
export function questionOf(
  { plan, dataSetCheck }: PreparedRun,
  { values }: EfficiencyPlan,
): Record<string, string> {
  const { serverTargetQps: _qps, multiStreamSamplesPerQuery, ...settings } = plan.settings;
  const isStreams = plan.settings.scenario === 'MultiStream' && plan.round === 'v0.5';
  const asked = {
    benchmark: plan.rules.key,
    round: plan.round,
    dataSet: `${dataSetCheck.name}, ${dataSetCheck.sampleCount} samples, ${dataSetCheck.digest || 'made up'}`,
    encoding: plan.encodingName,
    rngLibrary: plan.loadgen.rngLibrary,
    ...settings,
    ...(isStreams ? {} : { multiStreamSamplesPerQuery }),
    precision: values.precision,
    confidence: values.confidence,
  };
  return Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, String(value)]));
}
