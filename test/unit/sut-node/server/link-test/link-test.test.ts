import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LinkTestResponse__Output } from '../../../../../proto/gen/mlperf/network/v1/LinkTestResponse.ts';
import type { LinkTestStart } from '../../../../../proto/gen/mlperf/network/v1/LinkTestStart.ts';
import {
  decodeLinkTestResponse,
  encodeLinkTestRequest,
  isLinkLoad,
} from '../../../../../shared/wire/sut-contract.ts';
import { MessagePool } from '../../../../../sut-node/server/connection/message-memory.ts';
import type { ServerCallEnd } from '../../../../../sut-node/server/limits/call-end.ts';
import {
  LINK_TEST_BYTES_MAX,
  LINK_TEST_MS_MAX,
} from '../../../../../sut-node/server/limits/node-limits.ts';
import { LinkTest } from '../../../../../sut-node/server/link-test/link-test.ts';
import { ManualClock } from '../../../../scenes/clock.ts';

// Goal: a link test counts what came, keeps its bounds, and ends once, whatever a peer sends.
// Method: a test without a network, a clock that the test moves, a peer that takes a few messages
// at a time.

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const TO_SUT = 'LINK_TEST_DIRECTION_TO_SUT';
const FROM_SUT = 'LINK_TEST_DIRECTION_FROM_SUT';
const LOAD = encodeLinkTestRequest({ load: Buffer.alloc(1000) });

/** @param takes Messages that the peer takes before it wants no more for now. */
function scene(takes = 4) {
  const clock = new ManualClock();
  const sent: Buffer[] = [];
  const ends: ServerCallEnd[] = [];
  let room = takes;
  const peer = {
    write: (message: Buffer) => {
      sent.push(message);
      room -= 1;
      return room > 0;
    },
    end: (end: ServerCallEnd) => {
      ends.push(end);
    },
  };
  const test = new LinkTest(peer, clock, 64 * 1024);
  return {
    clock,
    sent,
    ends,
    test,
    start: (start: LinkTestStart) => test.message(encodeLinkTestRequest({ start })),
    drain: () => {
      room = takes;
      test.drained();
    },
    answers: (): LinkTestResponse__Output[] =>
      sent.filter((message) => !isLinkLoad(message)).map(decodeLinkTestResponse),
    loadBytes: () => sent.filter(isLinkLoad).reduce((sum, { length }) => sum + length, 0),
  };
}

describe('a link test to the SUT', () => {
  it('counts what comes behind the first load, and the second half apart, and ends by itself', () => {
    const { clock, test, start, answers, ends } = scene();
    start({ direction: TO_SUT, durationMs: 100, bytesMax: 1e6 });
    clock.advance(50e6);
    for (let i = 0; i < 20; i += 1) {
      test.message(LOAD);
      clock.advance(10e6);
    }
    expect(answers()[0]?.started).toMatchObject({ durationMs: 100, bytesMax: 1e6 });
    expect(answers()[1]?.result).toMatchObject({
      bytes: 9 * LOAD.length,
      durationNs: 90e6,
      laterBytes: 4 * LOAD.length,
      laterDurationNs: 40e6,
    });
    expect(ends).toEqual([{ code: status.OK, details: 'OK' }]);
    expect(clock.plannedCount).toBe(0);
  });

  it('looks at a message before its memory goes back, and lets each go back once', () => {
    const { clock, test, start, answers } = scene();
    start({ direction: TO_SUT, durationMs: 100, bytesMax: 1e6 });
    const load = encodeLinkTestRequest({ load: Buffer.alloc(20_000) });
    let releaseCount = 0;
    for (let i = 0; i < 3; i += 1) {
      const memory = new MessagePool().take(load.length);
      memory.bytes.set(load);
      const release = memory.release.bind(memory);
      memory.release = () => {
        releaseCount += 1;
        release();
        // In place of the next message that comes.
        memory.bytes.fill(0xee);
      };
      test.message(memory.bytes, memory);
    }
    clock.advance(100e6);
    expect(answers()[1]?.result).toMatchObject({ bytes: 2 * load.length });
    expect(releaseCount).toBe(3);
  });

  it('ends at its bytes, at the end of the stream, and when nothing ever comes', () => {
    const full = scene();
    full.start({ direction: TO_SUT, durationMs: 100, bytesMax: 2 * LOAD.length });
    for (let i = 0; i < 3; i += 1) full.test.message(LOAD);
    expect(full.answers().at(-1)?.result?.bytes).toBe(LOAD.length);
    const closed = scene();
    closed.start({ direction: TO_SUT, durationMs: 100, bytesMax: 1e6 });
    closed.test.halfClosed();
    const silent = scene();
    silent.start({ direction: TO_SUT, durationMs: 100, bytesMax: 1e6 });
    silent.clock.advance(200e6);
    for (const { ends, answers } of [full, closed, silent]) {
      expect(ends).toEqual([{ code: status.OK, details: 'OK' }]);
      expect(answers()).toHaveLength(2);
    }
  });

  it('takes no more time and bytes than the node gives', () => {
    const { start, answers } = scene();
    start({ direction: TO_SUT, durationMs: 4e9, bytesMax: 1e15, loadBytes: 4e9 });
    expect(answers()[0]?.started).toEqual({
      durationMs: LINK_TEST_MS_MAX,
      bytesMax: LINK_TEST_BYTES_MAX,
      loadBytes: 32 * 1024,
    });
  });
});

describe('a link test from the SUT', () => {
  it('sends as long as the peer takes, goes on when it takes more, and ends in time', () => {
    const { clock, sent, start, drain, answers, ends } = scene(4);
    start({ direction: FROM_SUT, durationMs: 100, bytesMax: 1e6, loadBytes: 2000 });
    expect(sent).toHaveLength(4);
    drain();
    expect(sent).toHaveLength(8);
    clock.advance(100e6);
    drain();
    expect(answers().at(-1)?.result).toBeDefined();
    expect(ends).toHaveLength(1);
    expect(sent).toHaveLength(9);
  });

  it('sends no more than its bytes to a peer that takes all', () => {
    const { start, loadBytes, ends } = scene(1e9);
    start({ direction: FROM_SUT, durationMs: 100, bytesMax: 50_000, loadBytes: 2000 });
    expect(loadBytes()).toBeGreaterThanOrEqual(50_000);
    expect(loadBytes()).toBeLessThan(53_000);
    expect(ends).toHaveLength(1);
  });

  it('ends at once when the node has other work', () => {
    const { test, start, drain, sent, ends } = scene(4);
    start({ direction: FROM_SUT, durationMs: 100, bytesMax: 1e6, loadBytes: 2000 });
    test.abort(status.ABORTED, 'a run begins');
    drain();
    expect(ends).toEqual([{ code: status.ABORTED, details: 'a run begins' }]);
    expect(sent).toHaveLength(4);
  });
});

describe('a link test is refused', () => {
  it.each<[string, readonly Buffer[]]>([
    ['without a direction', [encodeLinkTestRequest({ start: { durationMs: 1 } })]],
    ['with load before a start', [LOAD]],
    ['with an empty message', [Buffer.alloc(0)]],
    ['with bytes that are no message', [Buffer.from('ffffffff', 'hex')]],
    [
      'with a second start',
      [
        encodeLinkTestRequest({ start: { direction: TO_SUT, durationMs: 1, bytesMax: 9 } }),
        encodeLinkTestRequest({ start: { direction: TO_SUT, durationMs: 1, bytesMax: 9 } }),
      ],
    ],
    [
      'with load that goes the wrong way',
      [
        encodeLinkTestRequest({ start: { direction: FROM_SUT, durationMs: 1, bytesMax: 1e6 } }),
        LOAD,
      ],
    ],
  ])('%s', (_case, messages) => {
    const { test, ends } = scene();
    for (const message of messages) test.message(message);
    expect(ends).toHaveLength(1);
    expect(ends[0]?.code).toBe(status.INVALID_ARGUMENT);
  });

  it('where the stream ends before it starts', () => {
    const { test, ends } = scene();
    test.halfClosed();
    expect(ends[0]?.code).toBe(status.INVALID_ARGUMENT);
  });
});

describe('a link test under random messages', () => {
  const start = fc
    .record({
      direction: fc.constantFrom(TO_SUT, FROM_SUT, 'LINK_TEST_DIRECTION_UNSPECIFIED' as const),
      durationMs: fc.nat(2 ** 32 - 1),
      bytesMax: fc.nat(100_000),
      loadBytes: fc.nat(2 ** 32 - 1),
    })
    .map((fields) => encodeLinkTestRequest({ start: fields }));
  const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes));

  it('ends once, in its time and with its bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(start, fc.constant(LOAD), anyBytes), { maxLength: 12 }),
        fc.nat(20),
        (messages, takes) => {
          const { clock, test, ends, loadBytes, drain } = scene(takes);
          for (const message of messages) {
            test.message(message);
            clock.advance(1e6);
            drain();
          }
          clock.advance(2 * LINK_TEST_MS_MAX * 1e6);
          test.halfClosed();
          expect(ends).toHaveLength(1);
          expect(clock.plannedCount).toBe(0);
          expect(loadBytes()).toBeLessThan(100_000 + 64 * 1024);
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});
