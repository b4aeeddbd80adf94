import type { LinkTestOutcome } from '../../../shared/evidence/node-probe.ts';

/** What bounds a stream of load in one direction. */
export interface LinkBounds {
  /** Smallest round trip, in ns; null unknown. */
  readonly roundTripNs: number | null;
  /** HTTP/2 receive window of the end that receives, in bytes; null unknown. */
  readonly windowBytes: number | null;
  /** Largest socket buffers: of the end that sends, and of the one that receives. */
  readonly sendBufferBytes: number | null;
  readonly receiveBufferBytes: number | null;
  /** Rate of the slower card on the way, as they say; null unknown, or within one machine. */
  readonly cardBitsPerSecond: number | null;
  /** Both ends share the CPUs of one machine. */
  readonly isOneMachine: boolean;
}

/** What held a test of a link up. */
export type LinkLimit =
  | 'http2-window'
  | 'send-buffer'
  | 'receive-buffer'
  | 'card'
  | 'loadgen-cpu'
  | 'sut-cpu'
  | 'one-machine'
  | 'path';

/**
 * Share of a bound from which on it counts as reached. HTTP/2 gives a window back when half of it was read (nghttp2),
 * so that half of it, and less while round trips are longer under load, is what carries; a card carries headers, too.
 */
const REACHED = { 'http2-window': 0.4, 'send-buffer': 0.5, 'receive-buffer': 0.5 } as const;
const CARD_REACHED = 0.85;
const BUSY = 0.85;

/**
 * Linux keeps half of a receive buffer for what is beside the data (tcp_adv_win_scale 1), and about a third of a send
 * buffer. Source: Linux, ip-sysctl.rst; an estimate, since both depend on packet sizes.
 */
const RECEIVE_DATA_SHARE = 0.5;
const SEND_DATA_SHARE = 0.67;

/** Bits per second that so many bytes on the way carry at a round trip; Infinity where one is unknown. */
export function rateOfBytes(bytes: number | null, roundTripNs: number | null): number {
  return bytes === null || roundTripNs === null || roundTripNs <= 0
    ? Number.POSITIVE_INFINITY
    : (bytes * 8e9) / roundTripNs;
}

/** Most bits per second that each of the bounds allows. */
export function boundRates(
  bounds: LinkBounds,
): Record<'http2-window' | 'send-buffer' | 'receive-buffer', number> {
  const { roundTripNs, windowBytes, sendBufferBytes, receiveBufferBytes } = bounds;
  return {
    'http2-window': rateOfBytes(windowBytes, roundTripNs),
    'send-buffer': SEND_DATA_SHARE * rateOfBytes(sendBufferBytes, roundTripNs),
    'receive-buffer': RECEIVE_DATA_SHARE * rateOfBytes(receiveBufferBytes, roundTripNs),
  };
}

/**
 * What limited a test: the bound that it came nearest to, else a thread that was busy all the time, else the path (a
 * slower link on the way, a shaper, losses). A judgement from outside, and called one.
 */
export function limitOf(test: LinkTestOutcome, bounds: LinkBounds): LinkLimit {
  const rate = test.bitsPerSecond ?? 0;
  const card = bounds.cardBitsPerSecond;
  if (card !== null && rate >= CARD_REACHED * card) return 'card';
  const rates = boundRates(bounds);
  const kinds = ['http2-window', 'send-buffer', 'receive-buffer'] as const;
  const nearest = kinds.reduce((best, kind) => (rates[kind] < rates[best] ? kind : best));
  if (rate >= REACHED[nearest] * rates[nearest]) return nearest;
  if (test.loadgenBusyShare >= BUSY && test.loadgenBusyShare >= (test.sutBusyShare ?? 0)) {
    return 'loadgen-cpu';
  }
  if ((test.sutBusyShare ?? 0) >= BUSY) return 'sut-cpu';
  return bounds.isOneMachine ? 'one-machine' : 'path';
}
