import { execFile } from 'node:child_process';
import { rounded } from '../../../shared/base/figures/figure-text.ts';
import type { LinkConditions } from './link-conditions.ts';
import type { CellResult } from './sweep-file.ts';

/** What a link in user space did while it was there. */
export type TapCounts = NonNullable<CellResult['tap']>;

/** The link between LoadGen and the SUT, whose conditions a sweep sets. */
export interface SweepLink {
  /** @throws MlperfError `ERR_NOT_INSTALLED` */
  shape(link: LinkConditions): Promise<void>;
  /** Takes the conditions back. @returns What a link in user space did; null of netem */
  release(): Promise<TapCounts | null>;
}

const CALL_TIMEOUT_MS = 10_000;

/** How a command ended. */
export interface CallResult {
  readonly isOk: boolean;
  /** What it printed, or why it failed in one line. */
  readonly text: string;
}

/** Runs a command of the system to its end; one that is not installed fails like any other. */
export function call(command: string, args: readonly string[]): Promise<CallResult> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: CALL_TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve({ isOk: true, text: stdout });
      else resolve({ isOk: false, text: oneLine(stderr || error.message) });
    });
  });
}

function oneLine(text: string): string {
  return text.trim().split('\n').join('; ');
}

/** Packets that wait where nothing else is known: what Linux gives an interface, and netem's own default. */
const QUEUE_PACKETS = 1_000;
const PACKET_BYTES = 1_500;
/** Rate that the packets on a link without a limit are counted for. */
const RATE_ASSUMED = 25e9;

/**
 * Packets that an end of a link has to hold. An emulated link keeps what is delayed in the same queue as what waits.
 * @param delayNs Delay that this end adds.
 */
export function queuePackets({ bitsPerSecond }: LinkConditions, delayNs: number): number {
  const flying = ((bitsPerSecond ?? RATE_ASSUMED) / 8 / PACKET_BYTES) * (delayNs / 1e9);
  return QUEUE_PACKETS + Math.ceil(flying);
}

/**
 * Arguments behind `tc qdisc add dev IF root netem`.
 * @param delayNs Delay of what leaves through the interface.
 */
export function netemArgs(link: LinkConditions, delayNs: number): string[] {
  const args = ['limit', String(queuePackets(link, delayNs))];
  if (delayNs > 0) args.push('delay', `${Math.round(delayNs / 1e3)}us`);
  if (link.lossShare > 0) args.push('loss', `${rounded(link.lossShare * 100, 6)}%`);
  if (link.bitsPerSecond !== null) args.push('rate', `${Math.round(link.bitsPerSecond)}bit`);
  return args;
}

/** Says why the kernel has no netem for us; undefined where it has. Tries it in a network namespace that ends with the try. */
export async function whyNoNetem(): Promise<string | undefined> {
  const script = 'ip link set lo up && tc qdisc add dev lo root netem delay 1ms';
  const tried = await call('unshare', ['--net', 'sh', '-c', script]);
  return tried.isOk
    ? undefined
    : `netem cannot be used here: ${tried.text} (kernel module sch_netem, command tc of iproute2)`;
}
