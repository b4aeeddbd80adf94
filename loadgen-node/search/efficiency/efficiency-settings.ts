import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import {
  addressList,
  count,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { OIP_OPTIONS } from '../../run/plan/oip-options.ts';
import { FIND_PEAK_SETTINGS } from '../peak/find-peak-settings.ts';

/** What runs in process speaks no protocol: its other side is longhaul's own. */
const LEFT_OUT = ['keepProbes', 'resume', 'sut', ...Object.keys(OIP_OPTIONS)];
type LeftOut = 'keepProbes' | 'resume' | 'sut' | keyof typeof OIP_OPTIONS;

/** Settings of the runs and searches of both sides. */
export const SIDE_RUN_SETTINGS = {
  ...(Object.fromEntries(
    Object.entries(FIND_PEAK_SETTINGS).filter(([key]) => !LEFT_OUT.includes(key)),
  ) as unknown as Omit<typeof FIND_PEAK_SETTINGS, LeftOut>),
  sut: addressList('the SUT node, one; without it a node is started on this machine'),
};

/** Settings of `longhaul efficiency` alone. */
export const EFFICIENCY_OPTIONS = {
  inProcessOnly: toggle('on the SUT machine: measure in process alone, for --in-process elsewhere'),
  inProcess: text('file', 'what --in-process-only left on the SUT machine; with --sut'),
  repeats: count({ min: 1, max: 100 }, 'whole runs on each side, in turns', { fallback: 5 }),
};

/** Where the two sides are measured. */
export type EfficiencyMode = 'one-machine' | 'in-process-only' | 'two-machines';

/**
 * What was asked for.
 * @throws MlperfError `ERR_CONFIG_INVALID` for flags that contradict one another
 */
export function efficiencyMode(
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
