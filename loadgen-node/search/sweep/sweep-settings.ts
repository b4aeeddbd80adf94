import {
  choice,
  count,
  optional,
  type Setting,
  type SettingValues,
  text,
} from '../../../shared/config/setting.ts';

const LINK_MAKERS = ['shim', 'tc', 'auto'] as const;

/** What makes the conditions of a link: relays of our own, the kernel, or what can be had. */
export type LinkMaker = (typeof LINK_MAKERS)[number];

/** Settings of `longhaul sweep` beside those of its searches. */
export const SWEEP_OPTIONS: {
  readonly delay: Setting<string>;
  readonly rate: Setting<string>;
  readonly loss: Setting<string>;
  readonly with: Setting<LinkMaker>;
  readonly device: Setting<string | undefined>;
  readonly lossSeed: Setting<number>;
} = {
  delay: text('time[,time...]', 'one-way delays of the link, for example 0,1,5,10ms', {
    fallback: '0',
  }),
  rate: text('rate[,rate...]', 'its rates in each direction, for example 100mbit,1gbit,unlimited', {
    fallback: 'unlimited',
  }),
  loss: text('percent[,percent...]', 'shares of segments that it loses, for example 0,0.1%', {
    fallback: '0',
  }),
  with: choice(
    LINK_MAKERS,
    "shim: TCP relays on this machine; tc: the kernel's netem on --device; auto: tc where it can be used",
    { fallback: 'auto' },
  ),
  device: optional(
    text('name', 'network interface that tc may shape, for example eth1; it is always put back'),
  ),
  lossSeed: count({ min: 0, max: 2 ** 32 - 1 }, 'seed of the losses of the shim', { fallback: 0 }),
};

/** Effective values of {@link SWEEP_OPTIONS}. */
export type SweepValues = SettingValues<typeof SWEEP_OPTIONS>;
