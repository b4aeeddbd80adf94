import type { LinkDirection } from '../../../shared/evidence/node-probe.ts';
import { formatRate } from '../../samples/bandwidth-formulas.ts';
import { bytesText, type DoctorFinding, knownParts, shareInPercent, subject } from './finding.ts';
import { boundText, cardRate, linkRoundTripNs, type MeasuredLink } from './link-findings.ts';

/** Rate in bit/s that windows and buffers must allow if no card reports its own. */
const RATE_WITHOUT_CARD = 1e9;

/**
 * Smaller windows are suspect even if the test was far from their rate: besides the round trip, the
 * sending time of a slow link counts, which is not known separately.
 */
const SMALL_WINDOW_BYTES: number = 1024 ** 2;

/** Share of the card's rate below which a test without a known cause counts as slow. */
const CARD_SHARE_MIN = 0.5;

/** Share of retransmitted packets from which losses are reported. */
const LOSS_SHARE = 0.001;

/** Packet size in bytes to compute the share of losses; the exact size hardly matters. */
const PACKET_BYTES = 1448;

/**
 * Share of a limit from which it counts as reached. Both ends return a window after half of it was
 * read, so effectively half of it is available, less if round trips grow under load; a card also
 * carries headers.
 */
const REACHED = { 'http2-window': 0.4, 'send-buffer': 0.5, 'receive-buffer': 0.5 } as const;
const CARD_REACHED = 0.85;
const BUSY = 0.85;

/**
 * Data share of socket buffers: Linux reserves half of a receive buffer for overhead
 * (tcp_adv_win_scale 1), and about a third of a send buffer. Source: Linux, ip-sysctl.rst; an
 * estimate, since both depend on packet sizes.
 */
const RECEIVE_DATA_SHARE = 0.5;
const SEND_DATA_SHARE = 0.67;

/** Rate in bit/s for this many bytes in flight at a round trip time; Infinity if one is unknown. */
function rateOfBytes(bytes: number | null, roundTripNs: number | null): number {
  return bytes === null || roundTripNs === null || roundTripNs <= 0
    ? Number.POSITIVE_INFINITY
    : (bytes * 8e9) / roundTripNs;
}

const MORE_CONNECTIONS = 'more connections: run --streams 4 --connections 4';
const LARGER_BUFFERS =
  'larger tcp_wmem and tcp_rmem (see Socket buffers), or run --streams 4 --connections 4';

/** Limits of a link test: text for the report, and advice; null without advice. */
const LIMITS = {
  'http2-window': { text: 'HTTP/2 window x round trip', advice: MORE_CONNECTIONS },
  'send-buffer': { text: "the sender's socket buffer x round trip", advice: LARGER_BUFFERS },
  'receive-buffer': { text: "the receiver's socket buffer x round trip", advice: LARGER_BUFFERS },
  card: { text: 'the card', advice: null },
  'loadgen-cpu': {
    text: 'the CPU of the LoadGen node (its thread was busy for SHARE)',
    advice:
      'one thread of LoadGen carries no more: give it a core of its own, or send smaller samples (--encoding, --compression)',
  },
  'sut-cpu': {
    text: 'the CPU of the SUT node (its I/O thread was busy for SHARE)',
    advice:
      "one node's I/O thread carries no more: start more nodes, or send smaller samples (--encoding, --compression)",
  },
  'one-machine': { text: 'this machine: both ends share its CPUs', advice: null },
  path: {
    text: 'the path, most likely: no window, buffer or CPU was used up',
    advice:
      'look for a slower link, a shaper or losses between the two; more connections may help: run --streams 4 --connections 4',
  },
};

type LinkLimit = keyof typeof LIMITS;

/** Windows, buffers and measured rates of a link, in the directions of queries and of responses. */
export function throughputFindings(measured: MeasuredLink): DoctorFinding[] {
  const ways = (['to-sut', 'from-sut'] as const).map((direction): Way => {
    const bounds = boundsOf(measured, direction);
    return { ...bounds, limit: limitOf(bounds) };
  });
  const bounds = ways.flatMap((way) => [windowFinding(way), bufferFinding(way)]);
  const findings = [...bounds, ...ways.map(testFinding), losses(measured)];
  return findings.filter((finding) => finding !== null);
}

/**
 * One direction of a link: its test, and its limits: the receiver's window and buffer, the sender's
 * buffer.
 */
function boundsOf(measured: MeasuredLink, direction: LinkDirection) {
  const { probe, buffers, toSut, fromSut, loadgenWindowBytes } = measured;
  const isToSut = direction === 'to-sut';
  const { streamWindowBytes = 0, connectionWindowBytes = 0 } = probe.description ?? {};
  const nodeWindow =
    streamWindowBytes === 0 ? null : Math.min(streamWindowBytes, connectionWindowBytes);
  const roundTripNs = linkRoundTripNs(probe);
  const windowBytes = isToSut ? nodeWindow : loadgenWindowBytes;
  const sendBufferBytes = buffers[isToSut ? 'loadgen' : 'sut'].send;
  const receiveBufferBytes = buffers[isToSut ? 'sut' : 'loadgen'].receive;
  const card = cardRate(measured);
  return {
    isToSut,
    id: direction,
    name: isToSut ? 'to the SUT' : 'from the SUT',
    test: isToSut ? toSut : fromSut,
    roundTripNs,
    windowBytes,
    sendBufferBytes,
    receiveBufferBytes,
    /**
     * Rate of the path's slower card in bit/s, as reported; null if unknown, or within one machine.
     */
    card,
    /** Rate in bit/s that windows and buffers should allow. */
    needed: card ?? RATE_WITHOUT_CARD,
    /** True if both ends share one machine's CPUs. */
    isOneMachine: measured.link.isSameMachine === true,
    /** Largest rate in bit/s allowed by each limit. */
    rates: {
      'http2-window': rateOfBytes(windowBytes, roundTripNs),
      'send-buffer': SEND_DATA_SHARE * rateOfBytes(sendBufferBytes, roundTripNs),
      'receive-buffer': RECEIVE_DATA_SHARE * rateOfBytes(receiveBufferBytes, roundTripNs),
    },
  };
}

type Bounds = ReturnType<typeof boundsOf>;
type Way = Bounds & { readonly limit: LinkLimit };

/**
 * Limit of a test: the limit that it came nearest to; otherwise a thread that was always busy;
 * otherwise the path (a slower link, a shaper, losses). The report calls it a judgement from
 * outside.
 */
function limitOf({ test, card, rates, isOneMachine }: Bounds): LinkLimit {
  const rate = test.bitsPerSecond ?? 0;
  if (card !== null && rate >= CARD_REACHED * card) return 'card';
  const kinds = ['http2-window', 'send-buffer', 'receive-buffer'] as const;
  const nearest = kinds.reduce((best, kind) => (rates[kind] < rates[best] ? kind : best));
  if (rate >= REACHED[nearest] * rates[nearest]) return nearest;
  const sutBusyShare = test.sutBusyShare ?? 0;
  if (test.loadgenBusyShare >= BUSY && test.loadgenBusyShare >= sutBusyShare) return 'loadgen-cpu';
  if (sutBusyShare >= BUSY) return 'sut-cpu';
  return isOneMachine ? 'one-machine' : 'path';
}

/**
 * True if a limit may be the cause, by the test or without one. A limit that was not reached is no
 * fault.
 */
function limits({ test, limit }: Way, kinds: readonly LinkLimit[]): boolean {
  return test.bitsPerSecond === null || kinds.includes(limit);
}

function windowFinding(way: Way): DoctorFinding {
  const { id, name, isToSut, windowBytes, roundTripNs, needed, rates } = way;
  const productBytes = roundTripNs === null ? null : (needed * roundTripNs) / 8e9;
  const figures = { windowBytes, roundTripNs, bandwidthDelayBytes: productBytes };
  const about = subject(`http2-window-${id}`, `HTTP/2 window ${name}`, figures);
  if (windowBytes === null || productBytes === null) {
    return about.unknown('the node does not tell it');
  }
  const text = boundText(windowBytes, rates['http2-window']);
  if (windowBytes >= productBytes) return about.ok(text);
  const seen = `${text}; bandwidth x delay is ${bytesText(productBytes)} for ${formatRate(needed)}`;
  const advice = isToSut
    ? `longhaul sut --receive-window-bytes ${roundedUp(2 * productBytes)}`
    : 'the LoadGen node receives with 16 MiB: more connections (run --streams 4 --connections 4)';
  const isLimit = windowBytes < SMALL_WINDOW_BYTES || limits(way, ['http2-window']);
  return isLimit ? about.warning(seen, advice) : about.ok(seen, advice);
}

function bufferFinding(way: Way): DoctorFinding | null {
  const { id, name, sendBufferBytes, receiveBufferBytes, needed, rates } = way;
  if (way.isOneMachine) return null;
  const figures = { sendBufferBytes, receiveBufferBytes };
  const about = subject(`socket-buffers-${id}`, `Socket buffers ${name}`, figures);
  const [sent, received] = [rates['send-buffer'], rates['receive-buffer']];
  const known = knownParts(
    [
      sendBufferBytes && `sender ${boundText(sendBufferBytes, sent)}`,
      receiveBufferBytes && `receiver ${boundText(receiveBufferBytes, received)}`,
    ],
    '; ',
  );
  if (known === '') return about.unknown('neither end tells tcp_wmem and tcp_rmem');
  const seen = `${known} (estimated)`;
  if (Math.min(sent, received) >= needed) return about.ok(seen);
  const bytes = roundedUp((2 * needed * (way.roundTripNs ?? 0)) / 8e9);
  const setting = sent < received ? 'wmem="4096 16384' : 'rmem="4096 131072';
  const end = way.isToSut === sent < received ? 'LoadGen node' : 'SUT node';
  const advice = `on the ${end}: sudo sysctl -w net.ipv4.tcp_${setting} ${bytes}"`;
  const isLimit = limits(way, ['send-buffer', 'receive-buffer']);
  return isLimit ? about.warning(seen, advice) : about.ok(seen, advice);
}

/** The next power of two, in bytes, from 64 KiB to 1 GiB, for a setting. */
function roundedUp(bytes: number): number {
  return 2 ** Math.min(30, Math.ceil(Math.log2(Math.max(bytes, 65_536))));
}

function testFinding({ id, name, isToSut, test, card, limit }: Way): DoctorFinding {
  const { bitsPerSecond, loadgenBusyShare, sutBusyShare } = test;
  const figures = { bitsPerSecond, loadgenBusyShare, sutBusyShare };
  const about = subject(`throughput-${id}`, `Throughput ${name}`, figures);
  if (bitsPerSecond === null) return about.unknown(test.whyMissing ?? 'no figure came back');
  const { text, advice } = LIMITS[limit];
  const busy = limit === 'loadgen-cpu' ? loadgenBusyShare : (sutBusyShare ?? 1);
  const cause = text.replace('SHARE', shareInPercent(busy));
  const seen = `${formatRate(bitsPerSecond)} on one connection, limited by ${cause}`;
  if (advice === null) return about.ok(seen);
  const isWindow = limit === 'http2-window' && isToSut;
  const todo = isWindow ? `longhaul sut --receive-window-bytes N, or ${advice}` : advice;
  // Without a card's rate only a window or a buffer can be called too small.
  if (card === null) return about.okIf(!(limit in REACHED), seen, todo);
  const why = `; the card has ${formatRate(card)}`;
  return about.okIf(bitsPerSecond >= CARD_SHARE_MIN * card, seen, todo, why);
}

function losses({ tcp, toSut }: MeasuredLink): DoctorFinding | null {
  if (tcp === null) return null;
  const { retransmitted } = tcp;
  const about = subject('retransmissions', 'Packets sent again', { retransmitted });
  if (retransmitted === 0) return about.ok('none in the test to the SUT');
  const share = retransmitted / Math.max(1, toSut.bytes / PACKET_BYTES);
  const seen = `${retransmitted} in the test to the SUT, about ${shareInPercent(share)}`;
  const advice =
    'packets are lost: look at cable, switch port ("ethtool -S DEV") and shapers; a loss costs a round trip or more';
  return about.okIf(share < LOSS_SHARE, seen, advice);
}
