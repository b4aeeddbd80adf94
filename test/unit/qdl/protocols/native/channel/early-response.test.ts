import { afterEach, expect, it } from 'vitest';
import type { ChannelEvents } from '../../../../../../qdl/dispatch/dispatch-channel.ts';
import { NodeLoad } from '../../../../../../qdl/dispatch/router.ts';
import { DigestedLedger } from '../../../../../../qdl/protocols/native/channel/digested-ledger.ts';
import { Http2Transport } from '../../../../../../qdl/protocols/native/channel/http2-transport.ts';
import { ResponseDecoder } from '../../../../../../qdl/protocols/native/channel/response-decoder.ts';
import { SutChannel } from '../../../../../../qdl/protocols/native/channel/sut-channel.ts';
import { FRAME_TYPE } from '../../../../../../shared/http2/frames.ts';
import {
  encodeResponses,
  type WireResponses,
} from '../../../../../../shared/wire/responses-codec.ts';
import { encodeSutMessage } from '../../../../../../shared/wire/sut-contract.ts';
import {
  grpcMessage,
  HEAD,
  type Http2Scene,
  http2Scene,
  SETTING,
  word,
} from '../../../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: an answer counts only when all of its sample was with the socket, and each that comes later
// does. Method: a real stream to a peer that gives windows byte by byte and answers when the test
// says so.

const { data, windowUpdate } = FRAME_TYPE;
const ENCODINGS = [{ form: 'raw', compression: 'identity' }];

/** What a channel reports: claims, tokens and completions with their faults. */
class Heard implements ChannelEvents {
  readonly lines: string[] = [];

  readonly nowNs = (): number => 0;
  onFirstToken(...[channel, id]: Parameters<ChannelEvents['onFirstToken']>): void {
    this.lines.push(`first ${channel.outstanding.find(id)}`);
  }
  onTokens(): void {}
  onCompleted(...[channel, id, { fault }]: Parameters<ChannelEvents['onCompleted']>): void {
    this.lines.push(`${fault?.code ?? 'complete'} ${channel.outstanding.release(id)}`);
  }

  readonly onClaim = (...[, kind, , count = 1]: Parameters<ChannelEvents['onClaim']>): void => {
    this.lines.push(`claim ${kind} ${count}`);
  };
  onRoom(): void {}
  onFailed(): void {}
  onUsage(): void {}
  onDraining(): void {}
  onLost(): void {}
}

let channel: SutChannel | undefined;
afterEach(async () => await channel?.close(100));

/** A channel whose peer has opened it and takes so many bytes more. */
async function open(windowBytes: number) {
  const { peer, connection } = await http2Scene({ [SETTING.initialWindowSize]: 1_000 });
  const heard = new Heard();
  const place = { address: 'node', nodeIndex: 0, streamIndex: 0, streamOfNode: 0 };
  const load = new NodeLoad(1, 1_000);
  const payloads = { encoding: ENCODINGS[0] as (typeof ENCODINGS)[0], payloadOf: () => NONE };
  channel = new SutChannel(
    { ...place, connection: 0, streamCount: 1, load },
    {
      ...{ ledger: new DigestedLedger(), payloads },
      openTransport: (_, events) => new Http2Transport(connection, payloads, events),
      open: { protocolVersion: 1, tokenLatencies: true, encodings: ENCODINGS },
    },
    heard,
  );
  await peer.frame(data);
  const openBytes = peer.dataBytes.get(1) ?? 0;
  const credit = { samples: 100, bytes: 1_000_000 };
  peer.sendHeaders(1, HEAD);
  say(peer, encodeSutMessage({ opened: { protocolVersion: 1, credit } }));
  await channel.opened(5_000);
  const window = windowBytes + openBytes - 1_000;
  if (window > 0) peer.send(windowUpdate, 0, 1, word(window));
  return { peer, heard, channel };
}

const NONE = new Uint8Array(0);

function say(peer: Http2Scene['peer'], message: Uint8Array): void {
  peer.send(data, 0, 1, grpcMessage(message));
}

function answer(peer: Http2Scene['peer'], told: Partial<WireResponses>): void {
  const none = { firstTokens: [], tokens: [], completed: [], failed: [] };
  say(peer, encodeResponses({ ...none, ...told }));
}

const completed = (id: number): WireResponses['completed'][number] => ({
  ...{ id, payload: new Uint8Array(4), encoding: 0, offset: 0, total: 0 },
  ...{ tokenCount: undefined, durations: undefined },
});

/** Sends a sample in a part of its own. */
function send(to: SutChannel, { id, bytes }: { id: number; bytes: number }) {
  const samples = [{ id, payload: new Uint8Array(bytes), sampleIndex: 0 }];
  return to.send({ query: 0, querySampleCount: 1, samples, bytes });
}

it('an answer while the peer holds back the window for the rest of its sample is none', async () => {
  const { peer, heard, channel: to } = await open(5_000);
  const id = to.outstanding.acquire(7);
  send(to, { id, bytes: 40_000 });
  const before = peer.dataBytes.get(1) ?? 0;
  await peer.until(() => (peer.dataBytes.get(1) ?? 0) > before, 'the first bytes');
  answer(peer, { firstTokens: [{ id, payload: new Uint8Array(4) }], completed: [completed(id)] });
  await peer.until(() => heard.lines.length > 2, 'the answer');
  expect(heard.lines).toEqual([
    'claim early-response 1',
    'claim early-response 1',
    'early-response 7',
  ]);
});

it('each of the parts that leave in one write is answered as soon as it is out', async () => {
  const { peer, heard, channel: to } = await open(3_000);
  const ids = [0, 1, 2].map((responseId) => to.outstanding.acquire(responseId));
  const before = peer.dataBytes.get(1) ?? 0;
  for (const id of ids) send(to, { id, bytes: 2_000 });
  await peer.until(() => (peer.dataBytes.get(1) ?? 0) === before + 3_000, 'the window is used');
  answer(peer, { completed: [completed(ids[0] as number)] });
  answer(peer, { completed: [completed(ids[1] as number)] });
  await peer.until(() => heard.lines.length > 2, 'the answers');
  peer.send(windowUpdate, 0, 1, word(60_000));
  await peer.until(() => (peer.dataBytes.get(1) ?? 0) > before + 6_000, 'the rest');
  answer(peer, { completed: [completed(ids[2] as number)] });
  await peer.until(() => heard.lines.length > 3, 'the last answer');
  expect(heard.lines).toEqual([
    'complete 0',
    'claim early-response 1',
    'early-response 1',
    'complete 2',
  ]);
});

it('a sample in pieces is answered when its last one is out', async () => {
  const { peer, heard, channel: to } = await open(100_000);
  to.begin(new ResponseDecoder(ENCODINGS, [], 1_000), 500);
  const [whole, cut] = [to.outstanding.acquire(0), to.outstanding.acquire(1)];
  const before = peer.dataBytes.get(1) ?? 0;
  send(to, { id: whole, bytes: 10 });
  const rest = send(to, { id: cut, bytes: 1_000 });
  await peer.until(() => (peer.dataBytes.get(1) ?? 0) > before + 510, 'the first piece');
  answer(peer, { completed: [completed(whole)] });
  answer(peer, { firstTokens: [{ id: cut, payload: new Uint8Array(4) }] });
  await peer.until(() => heard.lines.length > 1, 'the answers');
  rest?.sendNext();
  expect(rest?.bytes).toBe(0);
  await peer.until(() => (peer.dataBytes.get(1) ?? 0) > before + 1_010, 'the second piece');
  answer(peer, { completed: [completed(cut)] });
  await peer.until(() => heard.lines.length > 2, 'the last answer');
  expect(heard.lines).toEqual(['complete 0', 'claim early-response 1', 'complete 1']);
});
