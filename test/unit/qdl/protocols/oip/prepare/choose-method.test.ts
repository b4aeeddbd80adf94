import { describe, expect, it } from 'vitest';
import {
  chooseMethod,
  type MethodAsked,
} from '../../../../../../qdl/protocols/oip/prepare/find-request.ts';
import type { OipMethod, OipWaysCompared } from '../../../../../../shared/wire/oip/request-plan.ts';

// Goal: the way of the requests is not what limits the server, or the result says that it is.
// Method: servers that took several requests at once in this time or that.

const AUTO: MethodAsked = {
  method: 'auto',
  streamCount: 1,
  facts: [{ isDecoupled: undefined }],
  needsTokens: false,
};

function compared(more: Partial<OipWaysCompared> = {}): OipWaysCompared {
  return {
    address: 'a:1',
    isStreamTheLimit: true,
    requestCount: 4,
    streamMs: 100.3,
    callsMs: 25.11,
    isInTurn: true,
    streamFailure: undefined,
    callsFailure: undefined,
    trialCount: 24,
    ...more,
  };
}

const TIMES = 'before the run 4 concurrent requests took 100 ms on one stream to a:1, 25.1 ms by';

/** Asks servers that all behave so, and keeps what was asked. */
async function chosen(
  asked: Partial<MethodAsked>,
  answer: (calls: OipMethod) => Partial<OipWaysCompared>,
) {
  const tried: OipMethod[] = [];
  const choice = await chooseMethod({ ...AUTO, ...asked }, (calls) => {
    tried.push(calls);
    return Promise.resolve([compared({ isStreamTheLimit: false }), compared(answer(calls))]);
  });
  return { ...choice, tried };
}

describe('chooseMethod', () => {
  it('leaves a stream that limits a server for calls, and says why', async () => {
    expect(await chosen({}, () => ({}))).toEqual({
      method: 'unary',
      notes: [
        `queries went by ModelInfer calls, not on one stream: the server at a:1 handles the requests of one stream one after the other: ${TIMES} ModelInfer calls`,
      ],
      trialCount: 24,
      tried: ['unary'],
    });
  });

  it.each<[string, Partial<MethodAsked>]>([
    ['a decoupled model', { facts: [{ isDecoupled: true }] }],
    ['first tokens', { needsTokens: true }],
  ])('takes a stream per request for %s', async (_what, asked) => {
    const choice = await chosen(asked, () => ({}));
    expect(choice).toMatchObject({ method: 'stream-per-request', tried: ['stream-per-request'] });
    expect(choice.notes[0]).toContain('by a ModelStreamInfer stream per request');
  });

  it('takes a stream per request where calls are refused', async () => {
    const choice = await chosen({}, (calls) => ({
      callsFailure: calls === 'unary' ? 'no streaming here' : undefined,
    }));
    expect(choice).toMatchObject({
      method: 'stream-per-request',
      trialCount: 48,
      tried: ['unary', 'stream-per-request'],
    });
  });

  it('stays on the stream where it is no limit, or nothing can be compared', async () => {
    const same = await chosen({}, () => ({ isStreamTheLimit: false, requestCount: 1 }));
    expect(same).toMatchObject({
      method: 'stream',
      notes: [`one stream does not limit the server: ${TIMES} ModelInfer calls`],
    });
    const refused = await chosen({}, () => ({ callsFailure: 'no' }));
    expect(refused.method).toBe('stream');
    expect(refused.notes[0]).toMatch(
      /it is unknown whether .*ModelInfer calls: a:1 said "no"; a ModelSt/,
    );
  });

  it.each<[string, Partial<MethodAsked>, RegExp]>([
    ['a stream', { method: 'stream' }, /^the stream limits a:1 to one concurrent request: /],
    ['several streams', { streamCount: 3 }, /^the stream limits a:1 to 3 concurrent requests: /],
  ])('keeps %s that was requested, and says what it limits', async (_what, asked, note) => {
    const choice = await chosen(asked, () => ({}));
    expect(choice.method).toBe('stream');
    expect(choice.notes).toEqual([expect.stringMatching(note)]);
    expect(choice.notes[0]).toMatch(/--oip-method unary avoids this limit$/);
  });

  it('leaves a stream that breaks under several requests at once', async () => {
    const choice = await chosen({}, () => ({ streamFailure: 'one at a time' }));
    expect(choice.method).toBe('unary');
    expect(choice.notes[0]).toContain('concurrent requests on one stream failed at a:1 ("one at a');
  });
});
