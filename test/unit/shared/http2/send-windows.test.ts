import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GrpcCall, GrpcCallConnection } from '../../../../qdl/http2/grpc-calls.ts';
import {
  FLAG,
  FRAME_TYPE,
  FrameBatch,
  WINDOW_BYTES_LIMIT,
} from '../../../../shared/http2/frames.ts';
import { SETTING } from '../../../../shared/http2/outgoing.ts';
import { UnsentMessages } from '../../../../shared/http2/unsent-messages.ts';
import { STREAM_OK } from '../../../../sut-node/server/limits/call-end.ts';
import { streamIdOf, WindowModel } from '../../../scenes/network/window-model.ts';
import {
  connectTo,
  frame,
  type RawFrame,
  RawHttp2Peer,
  RecordedCall,
  settingsOf,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';
import { HELLO, inferHead, ServerScene, turns } from '../../../scenes/sut-node/http2-server.ts';

// Goal: both ends send what the windows of their peer allow, no more and no less, whatever the peer
// does with them. Method: any legal order of settings, updates, messages and ends; a model of the
// windows (RFC 9113, 5.2 and 6.9) holds each frame that comes against what was allowed at that
// instant.

const { data, settings, windowUpdate } = FRAME_TYPE;
const CALL_COUNT = 3;

/** One end, whose sending is tried. */
interface SendingEnd {
  write(call: number, message: Buffer): void;
  end(call: number): void;
  /** Hands it frames of its peer. */
  read(bytes: Buffer): void;
  /** Lets it send until that holds. */
  settle(isDone: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** The client of the LoadGen node, by a socket of loopback. */
async function clientEnd(model: WindowModel): Promise<SendingEnd> {
  const peer = await RawHttp2Peer.start();
  const connection: GrpcCallConnection = connectTo(peer.address);
  await connection.ready;
  const calls = new Map<number, GrpcCall>();
  const callOf = (number: number): GrpcCall => {
    const call = calls.get(number) ?? connection.call('/test.Echo/Stream', new RecordedCall());
    calls.set(number, call);
    return call;
  };
  let taken = 0;
  const take = (): void => {
    while (taken < peer.frames.length) {
      model.take(peer.frames[taken] as RawFrame);
      taken += 1;
    }
  };
  // The answer to the first settings.
  await peer.frame(settings, 1);
  take();
  return {
    write: (number, message) => callOf(number).write([message], message.length),
    end: (number) => callOf(number).end(),
    read: (bytes) => peer.write(bytes),
    async settle(isDone) {
      const lateMs = performance.now() + 30_000;
      for (take(); !isDone() && performance.now() < lateMs; take()) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async close() {
      await connection.close();
      await peer.stop();
    },
  };
}

/** The server of a SUT node, without a network. */
async function nodeEnd(model: WindowModel): Promise<SendingEnd> {
  const scene = new ServerScene({ echoes: false });
  await scene.send(HELLO);
  let taken = 0;
  const take = (): void => {
    const frames = scene.frames();
    while (taken < frames.length) {
      model.take(frames[taken] as RawFrame);
      taken += 1;
    }
  };
  take();
  for (let number = 0; number < CALL_COUNT; number += 1) {
    await scene.send(inferHead(streamIdOf(number), FLAG.endHeaders | FLAG.endStream));
  }
  return {
    write: (number, message) => scene.handled[number]?.peer.write(message),
    end: (number) => scene.handled[number]?.peer.end(STREAM_OK),
    read: (bytes) => scene.connection.read(new Uint8Array(bytes)),
    async settle() {
      await turns(20);
      take();
    },
    async close() {
      scene.connection.drain();
      await turns();
    },
  };
}

const size = fc.oneof(fc.nat(100), fc.constantFrom(16_379, 16_384, 65_530, 65_535), fc.nat(90_000));
const call = fc.nat(CALL_COUNT - 1);
const step = fc.oneof(
  fc.record({
    kind: fc.constant('settings' as const),
    window: fc.oneof(fc.constantFrom(0, 1, 65_535, WINDOW_BYTES_LIMIT), fc.nat(70_000)),
    frameBytes: fc.constantFrom(16_384, 16_385, 60_000, 2 ** 24 - 1),
  }),
  fc.record({
    kind: fc.constant('update' as const),
    call: fc.oneof(call, fc.constant('connection' as const)),
    bytes: fc.oneof(fc.integer({ min: 1, max: 90_000 }), fc.constant(2 ** 30)),
  }),
  fc.record({ kind: fc.constant('write' as const), call, bytes: size }),
  fc.record({ kind: fc.constant('end' as const), call }),
);
/** Steps of one group come at once. */
const script = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

let nextByte = 0;

function messageOf(bytes: number): Buffer {
  nextByte += 1;
  return Buffer.alloc(bytes, nextByte);
}

/** Does a step, if it is legal now. @returns Bytes for the end. */
function play(one: Step, model: WindowModel, end: SendingEnd): Buffer {
  const nothing = Buffer.alloc(0);
  if (one.kind === 'settings') {
    if (!model.allowsInitial(one.window)) return nothing;
    model.onSettings(one.window, one.frameBytes);
    const values = {
      [SETTING.initialWindowSize]: one.window,
      [SETTING.maxFrameSize]: one.frameBytes,
    };
    return frame(settings, 0, 0, settingsOf(values));
  }
  if (one.kind === 'update') {
    if (!model.allowsUpdate(one.call, one.bytes)) return nothing;
    model.onUpdate(one.call, one.bytes);
    const streamId = one.call === 'connection' ? 0 : (model.callOf(one.call)?.streamId as number);
    return frame(windowUpdate, 0, streamId, word(one.bytes));
  }
  if (model.callOf(one.call)?.isEnding === true) return nothing;
  // A call begins with a message, as all of gRPC's do.
  if (one.kind === 'end' && model.callOf(one.call) === undefined) return nothing;
  const called = model.sending(one.call);
  if (one.kind === 'end') {
    called.isEnding = true;
    end.end(one.call);
  } else {
    const message = messageOf(one.bytes);
    called.write(message);
    end.write(one.call, message);
  }
  return nothing;
}

/** The steps that let everything end. */
const LAST: readonly (readonly Step[])[] = [
  [{ kind: 'settings', window: 1_000_000, frameBytes: 16_384 }],
  [0, 1, 2].map((number) => ({ kind: 'end', call: number })),
  [{ kind: 'update', call: 'connection', bytes: 2 ** 30 - 1 }],
  [0, 1, 2].map((number) => ({ kind: 'update', call: number, bytes: 2_000_000 })),
];

async function run(
  groups: readonly (readonly Step[])[],
  model: WindowModel,
  end: SendingEnd,
): Promise<void> {
  for (const group of [...groups, ...LAST]) {
    // What an end is given at once is one chunk; its own steps lie between the frames.
    end.read(Buffer.concat(group.map((one) => play(one, model, end))));
    await end.settle(() => model.isSettled);
    expect(model.faults).toEqual([]);
    expect(model.isSettled).toBe(true);
  }
  for (let number = 0; number < CALL_COUNT; number += 1) {
    const { isWrong = false, isEndSent = true, unsentBytes = 0 } = model.callOf(number) ?? {};
    expect([isWrong, isEndSent, unsentBytes]).toEqual([false, true, 0]);
  }
}

describe.each([
  ['the client', true, clientEnd],
  ['the node', false, nodeEnd],
] as const)('%s', (_name, isClient, open) => {
  it('sends all that the windows allow, and nothing else, in any order of settings, updates and ends', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (groups) => {
        const model = new WindowModel(isClient);
        const end = await open(model);
        try {
          await run(groups, model, end);
        } finally {
          await end.close();
        }
      }),
      { numRuns: 150 },
    );
  });

  it('sends END_STREAM alone as soon as the window is not below 0', async () => {
    const model = new WindowModel(isClient);
    const end = await open(model);
    const steps: Step[][] = [
      [{ kind: 'write', call: 0, bytes: 100 }],
      [{ kind: 'settings', window: 1, frameBytes: 16_384 }],
      [{ kind: 'end', call: 0 }],
      [{ kind: 'update', call: 0, bytes: 104 }],
    ];
    await run(steps, model, end);
    await end.close();
  });
});

describe('what makes frames', () => {
  it('refuses a negative count, and more than is there', () => {
    const batch = new FrameBatch(new ArrayBuffer(128 * 1024));
    const unsent = new UnsentMessages();
    unsent.add([Buffer.alloc(10)], 10);
    expect(() => batch.frame(data, 0, 1, -1)).toThrow();
    expect(() => batch.frame(data, 0, 1, 2 ** 24)).toThrow();
    expect(() => unsent.moveTo(batch, -1)).toThrow();
    expect(() => unsent.moveTo(batch, 16)).toThrow();
    unsent.moveTo(batch, 15);
    expect([unsent.bytes, batch.bytes]).toEqual([0, 15]);
  });
});
