import { describe, expect, it } from 'vitest';
import {
  findRequest,
  type OipWay,
  requestWays,
  type TriedRequest,
  type WayFacts,
} from '../../../../../../qdl/protocols/oip/prepare/find-request.ts';

const UNIMPLEMENTED = 12;
const INVALID_ARGUMENT = 3;

const server = { address: 'a:1', isDecoupled: undefined, hasStream: undefined, inputs: [] };
const auto = { method: 'auto', contents: 'auto' } as const;
const ways = (facts: Partial<WayFacts['facts'][number]>, more: Partial<WayFacts> = {}): string[] =>
  requestWays({
    asked: auto,
    facts: [server, { ...server, address: 'b:1', ...facts }],
    needsTokens: false,
    ...more,
  }).map(({ method, contents }) => `${method} ${contents}`);

const STREAMS = [
  'stream raw',
  'stream typed',
  'stream-per-request raw',
  'stream-per-request typed',
];

describe('requestWays', () => {
  it.each([
    [
      'a server may have the stream',
      {},
      ['stream raw', 'stream typed', 'unary raw', 'unary typed'],
    ],
    ['a server has no stream', { hasStream: false }, ['unary raw', 'unary typed']],
    ['a model is decoupled', { isDecoupled: true }, STREAMS],
    [
      'an input has no typed contents',
      { inputs: [{ name: 'x', datatype: 'BF16', shape: [1] }] } as const,
      ['stream raw', 'unary raw'],
    ],
  ])('tries the best first where %s', (_what, facts, expected) => {
    expect(ways(facts)).toEqual(expected);
  });

  it('takes no stream of many requests where requests have headers of their own', () => {
    expect(ways({}, { needsCalls: true })).toEqual(['unary raw', 'unary typed']);
    expect(ways({ isDecoupled: true }, { needsCalls: true })).toEqual(STREAMS.slice(2));
    const stream = { ...auto, method: 'stream' } as const;
    expect(ways({}, { needsCalls: true, asked: stream })).toEqual(['stream raw', 'stream typed']);
  });

  it('asks for a stream where first tokens are measured', () => {
    expect(ways({}, { needsTokens: true })).toEqual(STREAMS);
    const unary = { ...auto, method: 'unary' } as const;
    expect(() => ways({}, { needsTokens: true, asked: unary })).toThrow(
      /--oip-method unary: token/,
    );
    expect(() => ways({ hasStream: false }, { needsTokens: true })).toThrow(
      /b:1 lacks ModelStreamInfer/,
    );
  });

  it('refuses what cannot be', () => {
    const unary = { ...auto, method: 'unary' } as const;
    expect(() => ways({ isDecoupled: true }, { asked: unary })).toThrow(/the model is decoupled/);
    const typed = { ...auto, contents: 'typed' } as const;
    const inputs = [{ name: 'x', datatype: 'FP16', shape: [1] }] as const;
    expect(() => ways({ inputs }, { asked: typed })).toThrow(/input "x" is FP16/);
  });
});

describe('findRequest', () => {
  const all: readonly OipWay[] = requestWays({
    asked: auto,
    facts: [server],
    needsTokens: false,
  });
  const taken = (address: string): TriedRequest => ({ address, refusal: null, requestCount: 1 });
  const refused = (address: string, code: number, details: string): TriedRequest => ({
    address,
    refusal: { code, details },
    requestCount: 1,
  });

  it('takes the first way that all servers take, and tells what was refused', async () => {
    const found = await findRequest(all, async ({ method, contents }) => [
      taken('a:1'),
      method === 'unary' && contents === 'typed'
        ? taken('b:1')
        : refused('b:1', method === 'stream' ? UNIMPLEMENTED : INVALID_ARGUMENT, 'no'),
    ]);
    expect(found).toMatchObject({ method: 'unary', contents: 'typed', trialCount: 3 });
    expect(found.notes).toEqual([
      'to ModelStreamInfer with raw contents b:1 said "no"',
      'to ModelInfer with raw contents b:1 said "no"',
    ]);
  });

  it('hands on the words of the servers where no way is left', async () => {
    const trial = findRequest(all, async () => [refused('a:1', INVALID_ARGUMENT, 'shape [1,2]')]);
    await expect(trial).rejects.toMatchObject({
      code: 'ERR_SUT_REFUSED',
      message: expect.stringMatching(
        /^the servers refused every kind of request: .*"shape \[1,2\]"/,
      ) as string,
    });
  });
});
