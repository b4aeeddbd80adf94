import { ANY_PROTOCOL, serverSchemes } from '../../../qdl/protocols/index.ts';
import {
  addressList,
  choice,
  count,
  type SettingValues,
  text,
} from '../../../shared/config/setting.ts';
import { FIND_PEAK_SETTINGS } from '../peak/find-peak-plan.ts';

/** Settings of `longhaul sweep` beside those of its searches. */
export const SWEEP_OPTIONS = {
  delay: text('time[,time...]', 'one-way delays of the link, for example 0,1,5,10ms', {
    fallback: '0',
  }),
  rate: text('rate[,rate...]', 'its rates in each direction, for example 100mbit,1gbit,unlimited', {
    fallback: 'unlimited',
  }),
  loss: text('percent[,percent...]', 'shares of packets that it loses, for example 0,0.1%', {
    fallback: '0',
  }),
  with: choice(
    ['tc', 'tap', 'auto'] as const,
    "tc: the kernel's netem; tap: a link in user space, where the kernel has none; auto: tc where it can be used",
    { fallback: 'auto' },
  ),
  device: text(
    'name',
    'with --sut: network interface that tc may shape, for example eth1; it is always put back',
  ),
  lossSeed: count({ min: 0, max: 2 ** 32 - 1 }, 'seed of the losses of --with tap', {
    fallback: 0,
  }),
};

/** Effective values of {@link SWEEP_OPTIONS}. */
export type SweepValues = SettingValues<typeof SWEEP_OPTIONS>;

/** Settings of the search of each cell. */
export const CELL_SETTINGS = {
  ...FIND_PEAK_SETTINGS,
  sut: addressList(
    'SUT nodes behind --device; without it a node is started on this machine, behind a link of its own',
    { schemes: ANY_PROTOCOL },
  ),
  model: text(
    'name',
    `model of the node that is started, as in longhaul sut; ${serverSchemes()}: of the server`,
  ),
};
