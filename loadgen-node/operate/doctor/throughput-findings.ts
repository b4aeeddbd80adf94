import type { LinkDirection } from '../../../shared/evidence/node-probe.ts';
import { formatRate } from '../../samples/bandwidth/bandwidth-formulas.ts';
import { bytesText, type DoctorFinding, shareInPercent, subject } from './finding.ts';
import { boundText, cardRate, linkRoundTripNs, type MeasuredLink } from './link-findings.ts';
import { boundRates, type LinkBounds, type LinkLimit, limitOf, rateOfBytes } from './link-limit.ts';

/** What a window or a buffer must allow to be no finding where no card tells its rate. */
const RATE_WITHOUT_CARD = 1e9;

/**
 * A window that is smaller is in question also where the test came nowhere near its rate: beside the round trip, the time
 * in which a slow link sends it off counts, and that is not known apart.
 */
const SMALL_WINDOW_BYTES: number = 1024 ** 2;

/** Share of the card's rate below which a test is called slow, where nothing is known that would explain it. */
const CARD_SHARE_MIN = 0.5;

/** Packets sent again, of those that were sent, from which on losses are told. */
const LOSS_SHARE = 0.001;

/** Bytes of a packet, for a share of losses; the exact size hardly matters. */
const PACKET_BYTES = 1448;

/** Windows, buffers and measured rates of a link, as queries go and as responses go. */
export function throughputFindings(measured: MeasuredLink): DoctorFinding[] {
  return [
    ...(['to-sut', 'from-sut'] as const).flatMap((direction) => [
      windowFinding(measured, direction),
      bufferFinding(measured, direction),
    ]),
    testFinding(measured, 'to-sut'),
    testFinding(measured, 'from-sut'),
    losses(measured),
  ].filter((finding) => finding !== null);
}

/** What bounds the load in one direction: the receiver's window and buffer, the sender's buffer. */
function boundsOf(measured: MeasuredLink, direction: LinkDirection): LinkBounds {
  const { probe, buffers, loadgenWindowBytes } = measured;
  const isToSut = direction === 'to-sut';
  const { description } = probe;
  const nodeWindow =
    description === null || description.streamWindowBytes === 0
      ? null
      : Math.min(description.streamWindowBytes, description.connectionWindowBytes);
  return {
    roundTripNs: linkRoundTripNs(probe),
    windowBytes: isToSut ? nodeWindow : loadgenWindowBytes,
    sendBufferBytes: isToSut ? buffers.loadgen.send : buffers.sut.send,
    receiveBufferBytes: isToSut ? buffers.sut.receive : buffers.loadgen.receive,
    cardBitsPerSecond: cardRate(measured),
    isOneMachine: measured.link.isSameMachine === true,
  };
}

const WAYS = { 'to-sut': 'to the SUT', 'from-sut': 'from the SUT' } as const;

function windowFinding(measured: MeasuredLink, direction: LinkDirection): DoctorFinding {
  const bounds = boundsOf(measured, direction);
  const { windowBytes, roundTripNs } = bounds;
  const needed = bounds.cardBitsPerSecond ?? RATE_WITHOUT_CARD;
  const productBytes = roundTripNs === null ? null : (needed * roundTripNs) / 8e9;
  const about = subject(`http2-window-${direction}`, `HTTP/2 window ${WAYS[direction]}`, {
    windowBytes,
    roundTripNs,
    bandwidthDelayBytes: productBytes,
  });
  if (windowBytes === null || productBytes === null)
    return about.unknown('the node does not tell it');
  const text = boundText(windowBytes, rateOfBytes(windowBytes, roundTripNs));
  if (windowBytes >= productBytes) return about.ok(text);
  const seen = `${text}; bandwidth x delay is ${bytesText(productBytes)} for ${formatRate(needed)}`;
  const advice =
    direction === 'to-sut'
      ? `longhaul sut --receive-window-bytes ${roundedUp(2 * productBytes)}`
      : 'the LoadGen node receives with 16 MiB: more connections (run --streams 4 --connections 4)';
  const isSmall = windowBytes < SMALL_WINDOW_BYTES;
  return isSmall || limits(measured, direction, ['http2-window'])
    ? about.warning(seen, advice)
    : about.ok(seen, advice);
}

/** Whether a bound may be what limits: by the test, or because there was none. A bound that is not reached is no fault. */
function limits(
  measured: MeasuredLink,
  direction: LinkDirection,
  kinds: readonly LinkLimit[],
): boolean {
  const test = direction === 'to-sut' ? measured.toSut : measured.fromSut;
  return (
    test.bitsPerSecond === null || kinds.includes(limitOf(test, boundsOf(measured, direction)))
  );
}

function bufferFinding(measured: MeasuredLink, direction: LinkDirection): DoctorFinding | null {
  if (measured.link.isSameMachine === true) return null;
  const bounds = boundsOf(measured, direction);
  const { sendBufferBytes, receiveBufferBytes } = bounds;
  const about = subject(`socket-buffers-${direction}`, `Socket buffers ${WAYS[direction]}`, {
    sendBufferBytes,
    receiveBufferBytes,
  });
  const rates = boundRates(bounds);
  const parts = [
    sendBufferBytes === null ? null : `sender ${boundText(sendBufferBytes, rates['send-buffer'])}`,
    receiveBufferBytes === null
      ? null
      : `receiver ${boundText(receiveBufferBytes, rates['receive-buffer'])}`,
  ].filter((part) => part !== null);
  if (parts.length === 0) return about.unknown('neither end tells tcp_wmem and tcp_rmem');
  const needed = bounds.cardBitsPerSecond ?? RATE_WITHOUT_CARD;
  const least = Math.min(rates['send-buffer'], rates['receive-buffer']);
  if (least >= needed) return about.ok(`${parts.join('; ')} (estimated)`);
  const bytes = roundedUp((2 * needed * (bounds.roundTripNs ?? 0)) / 8e9);
  const [sender, receiver] =
    direction === 'to-sut' ? ['LoadGen node', 'SUT node'] : ['SUT node', 'LoadGen node'];
  const seen = `${parts.join('; ')} (estimated)`;
  const advice =
    rates['send-buffer'] < rates['receive-buffer']
      ? `on the ${sender}: sudo sysctl -w net.ipv4.tcp_wmem="4096 16384 ${bytes}"`
      : `on the ${receiver}: sudo sysctl -w net.ipv4.tcp_rmem="4096 131072 ${bytes}"`;
  return limits(measured, direction, ['send-buffer', 'receive-buffer'])
    ? about.warning(seen, advice)
    : about.ok(seen, advice);
}

/** The next power of two, in bytes, from 64 KiB to 1 GiB: as settings take it. */
function roundedUp(bytes: number): number {
  return 2 ** Math.min(30, Math.ceil(Math.log2(Math.max(bytes, 65_536))));
}

function testFinding(measured: MeasuredLink, direction: LinkDirection): DoctorFinding {
  const test = direction === 'to-sut' ? measured.toSut : measured.fromSut;
  const { bitsPerSecond, loadgenBusyShare, sutBusyShare } = test;
  const about = subject(`throughput-${direction}`, `Throughput ${WAYS[direction]}`, {
    bitsPerSecond,
    loadgenBusyShare,
    sutBusyShare,
  });
  if (bitsPerSecond === null) return about.unknown(test.whyMissing ?? 'no figure came back');
  const bounds = boundsOf(measured, direction);
  const limit = limitOf(test, bounds);
  const seen = `${formatRate(bitsPerSecond)} on one connection, limited by ${limitText(limit, test)}`;
  const card = bounds.cardBitsPerSecond;
  const isSlow = card !== null && bitsPerSecond < CARD_SHARE_MIN * card;
  const advice = adviceFor(limit, direction);
  if (limit === 'card' || advice === null) return about.ok(seen);
  const isWindow =
    limit === 'http2-window' || limit === 'send-buffer' || limit === 'receive-buffer';
  if (isSlow || (isWindow && card === null)) {
    return about.warning(
      card === null ? seen : `${seen}; the card has ${formatRate(card)}`,
      advice,
    );
  }
  return about.ok(seen);
}

function limitText(
  limit: LinkLimit,
  { loadgenBusyShare, sutBusyShare }: MeasuredLink['toSut'],
): string {
  switch (limit) {
    case 'http2-window':
      return 'HTTP/2 window x round trip';
    case 'send-buffer':
      return "the sender's socket buffer x round trip";
    case 'receive-buffer':
      return "the receiver's socket buffer x round trip";
    case 'card':
      return 'the card';
    case 'loadgen-cpu':
      return `the CPU of the LoadGen node (its thread was busy for ${shareInPercent(loadgenBusyShare)})`;
    case 'sut-cpu':
      return `the CPU of the SUT node (its I/O thread was busy for ${shareInPercent(sutBusyShare ?? 1)})`;
    case 'one-machine':
      return 'this machine: both ends share its CPUs';
    case 'path':
      return 'the path, most likely: no window, buffer or CPU was used up';
  }
}

function adviceFor(limit: LinkLimit, direction: LinkDirection): string | null {
  switch (limit) {
    case 'http2-window':
      return direction === 'to-sut'
        ? 'longhaul sut --receive-window-bytes N, or more connections: run --streams 4 --connections 4'
        : 'more connections: run --streams 4 --connections 4';
    case 'send-buffer':
    case 'receive-buffer':
      return 'larger tcp_wmem and tcp_rmem (see Socket buffers), or run --streams 4 --connections 4';
    case 'card':
    case 'one-machine':
      return null;
    case 'loadgen-cpu':
      return 'more threads for gRPC: run --streams 4 --connections 4 --channel-threads 4';
    case 'sut-cpu':
      return "one node's I/O thread carries no more: start more nodes, or send smaller samples (--encoding, --compression)";
    case 'path':
      return 'look for a slower link, a shaper or losses between the two; more connections may help: run --streams 4 --connections 4';
  }
}

function losses({ tcp, toSut }: MeasuredLink): DoctorFinding | null {
  if (tcp === null) return null;
  const about = subject('retransmissions', 'Packets sent again', {
    retransmitted: tcp.retransmitted,
  });
  const sent = Math.max(1, toSut.bytes / PACKET_BYTES);
  const share = tcp.retransmitted / sent;
  if (tcp.retransmitted === 0) return about.ok('none in the test to the SUT');
  const seen = `${tcp.retransmitted} in the test to the SUT, about ${shareInPercent(share)}`;
  return share >= LOSS_SHARE
    ? about.warning(
        seen,
        'packets are lost: look at cable, switch port ("ethtool -S DEV") and shapers; a loss costs a round trip or more',
      )
    : about.ok(seen);
}
