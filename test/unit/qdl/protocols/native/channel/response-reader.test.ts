import { describe, expect, it } from 'vitest';
import type {
  ChannelEvents,
  DispatchChannel,
} from '../../../../../../qdl/dispatch/dispatch-channel.ts';
import { OutstandingTable } from '../../../../../../qdl/dispatch/outstanding-table.ts';
import { NodeLoad } from '../../../../../../qdl/dispatch/router.ts';
import { ResponseReader } from '../../../../../../qdl/protocols/native/channel/response-reader.ts';
import { ClaimBook, contradictsResult } from '../../../../../../shared/evidence/node-claims.ts';
import type { WireResponses } from '../../../../../../shared/wire/responses-codec.ts';
import { TOKEN_STREAM_FEATURE } from '../../../../../../shared/wire/sut-contract.ts';

// Goal: tokens and responses of a node reach LoadGen as counts and samples, and what cannot be true
// is a claim. Method: a reader of a channel with one sample on the wire, and lines of what it
// reports.

const ID_BYTES = 4;
const ids = (...list: number[]): Buffer => Buffer.from(Int32Array.from(list).buffer);

/** Reports of a reader, as lines; its claims. */
class Heard implements ChannelEvents {
  readonly lines: string[] = [];
  readonly claims = new ClaimBook();
  #nowNs = 0;

  nowNs(): number {
    this.#nowNs += 10;
    return this.#nowNs;
  }
  onFirstToken(): void {
    this.lines.push('first');
  }
  onTokens(...[channel, id, count]: Parameters<ChannelEvents['onTokens']>): void {
    this.lines.push(`${channel.outstanding.find(id)}: ${count}`);
  }
  onCompleted(...[channel, id, sample, atNs]: Parameters<ChannelEvents['onCompleted']>): void {
    const { payload, fault, receivedBytes = payload.length, decodeNs = 0 } = sample;
    const result = fault?.text ?? `${payload.length} of ${receivedBytes}`;
    this.lines.push(
      `${channel.outstanding.release(id)}: ${result} at ${atNs - decodeNs}+${decodeNs}`,
    );
  }
  onFailed(...[, , { code, text }]: Parameters<ChannelEvents['onFailed']>): void {
    this.lines.push(`${code}: ${text}`);
  }
  onClaim(...[, kind, text, count]: Parameters<ChannelEvents['onClaim']>): void {
    this.claims.add(kind, text, count);
  }
  onRoom(): void {
    this.lines.push('room');
  }
  onUsage(): void {}
  onDraining(): void {}
  onLost(): void {}
}

/** A reader of a channel with one sample on the wire. */
function streaming(bytesOfEach?: number) {
  const load = new NodeLoad(1, 1);
  const outstanding = new OutstandingTable({ streamIndex: 0, streamCount: 1, load });
  const heard = new Heard();
  const channel = { outstanding, isSent: () => true };
  const reader = new ResponseReader(
    channel as Partial<DispatchChannel> as DispatchChannel & typeof channel,
    heard,
    { tokenLatencies: true, features: [TOKEN_STREAM_FEATURE] },
    bytesOfEach,
  );
  const wireId = outstanding.acquire(0);
  const say = (responses: Partial<WireResponses>): void => {
    reader.read({ firstTokens: [], tokens: [], completed: [], failed: [], ...responses });
  };
  const complete = (payload: Buffer, tokenCount = payload.length / ID_BYTES): void => {
    const plain = { encoding: 0, durations: undefined, offset: 0, total: 0 };
    say({ completed: [{ id: wireId, payload, tokenCount, ...plain }] });
  };
  const claim = () => heard.claims.toClaims();
  return { say, complete, claim, lines: heard.lines, reader, wireId };
}

it('a response that is not compressed has the time of its message', () => {
  const { complete, lines, reader } = streaming();
  reader.decoder = { decode: (_, payload) => payload, takesTime: false };
  complete(ids(7, 8));
  expect(lines).toEqual(['0: 8 of 8 at 10+0', 'room']);
});

it('the time of its decompression is part of a response', () => {
  const { complete, lines, reader } = streaming();
  reader.decoder = { decode: () => ids(7, 8, 9), takesTime: true };
  complete(ids(1), 3);
  expect(lines).toEqual(['0: 12 of 4 at 10+10', 'room']);
});

it('a response that its decoder refuses cannot be used', () => {
  const { complete, lines, reader } = streaming();
  const decode = (): never => {
    throw new Error('damaged');
  };
  reader.decoder = { decode, takesTime: true };
  complete(ids(7));
  expect(lines).toEqual(['0: damaged at 10+0', 'room']);
});

it('a failed sample has a word for its code', () => {
  const { say, lines, wireId } = streaming();
  say({
    failed: [
      { id: wireId, code: 2, text: 'no memory' },
      { id: wireId, code: 99, text: '' },
    ],
  });
  expect(lines).toEqual(['inference: no memory', 'unspecified: gave no reason (code 99)', 'room']);
});

describe('tokens that a node tells as they come', () => {
  it('reach LoadGen as counts, and are held against the response', () => {
    const { say, complete, claim, lines, wireId } = streaming();
    say({
      tokens: [{ id: wireId, payload: ids(8, 9) }],
      firstTokens: [{ id: wireId, payload: ids(7) }],
    });
    say({ tokens: [{ id: wireId, payload: ids(10) }] });
    complete(ids(7, 8, 9, 10, 11));
    expect(lines.filter((line) => line !== 'room')).toEqual([
      ...['first', '0: 2', '0: 1', '0: 20 of 20 at 30+0'],
    ]);
    expect(claim()).toEqual([]);
  });

  it.each<[what: string, text: RegExp, (s: ReturnType<typeof streaming>) => void]>([
    [
      'other bytes than the response has',
      /^reported tokens that differ/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids(9) }] });
        complete(ids(7, 8, 9));
      },
    ],
    [
      'another first token',
      /^reported tokens that differ/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(6) }] });
        say({ tokens: [{ id: wireId, payload: ids(8) }] });
        complete(ids(7, 8, 9));
      },
    ],
    [
      'more tokens than the count says',
      /^reported 3 tokens one by one for a response of 2$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids(8, 9) }] });
        complete(ids(7, 8, 9), 2);
      },
    ],
    [
      'more bytes than the response',
      /^reported 12 bytes of tokens one by one for a response of 8 bytes$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids(8, 9) }] });
        complete(ids(7, 8), 3);
      },
    ],
    [
      'half a token',
      /^reported 6 bytes of tokens, not a positive multiple of the first token's 4$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: Buffer.alloc(6) }] });
        complete(ids(7, 0));
      },
    ],
    [
      'no token',
      /^reported 0 bytes of tokens/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
        say({ tokens: [{ id: wireId, payload: ids() }] });
        complete(ids(7, 8));
      },
    ],
    [
      'a first token of no bytes',
      /^reported an empty first token$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids() }] });
        complete(ids(7, 8));
      },
    ],
    [
      'a first token that the response does not begin with',
      /^reported tokens that differ from the response$/,
      ({ say, complete, wireId }) => {
        say({ firstTokens: [{ id: wireId, payload: ids(99) }] });
        complete(ids(7, 8));
      },
    ],
    [
      'tokens before the first',
      /^reported tokens of a sample before its first token$/,
      ({ say, complete, wireId }) => {
        say({ tokens: [{ id: wireId, payload: ids(7) }] });
        complete(ids(7, 8));
      },
    ],
  ])('as %s contradict the result', (_what, text, play) => {
    const one = streaming();
    play(one);
    const [claim, ...others] = one.claim();
    expect(claim).toMatchObject({ kind: 'token-stream', count: 1 });
    expect(claim?.text).toMatch(text);
    expect(claim && contradictsResult(claim)).toBe(true);
    expect(others).toEqual([]);
  });

  it.each([ID_BYTES, undefined])('are as many as the response has bytes for', (bytesOfEach) => {
    const { say, complete, claim, wireId } = streaming(bytesOfEach);
    say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
    complete(ids(7, 8), 4);
    const text = 'counted 4 tokens in a response of 8 bytes, with 4 bytes per token';
    expect(claim()).toEqual([{ kind: 'token-stream', count: 1, text }]);
  });

  it.each([
    ['an id that never was', 6_000],
    ['a sample that was answered', undefined],
  ])('of %s are of no sample', (_what, other) => {
    const { say, complete, claim, lines, wireId } = streaming();
    say({ firstTokens: [{ id: wireId, payload: ids(7) }] });
    complete(ids(7, 8));
    say({ tokens: [{ id: other ?? wireId, payload: ids(8) }] });
    // LoadGen's sink counts that as a broken contract.
    expect(lines.slice(-2)).toEqual(['-1: 0', 'room']);
    expect(claim()).toEqual([]);
  });
});
