import { describe, expect, it } from 'vitest';
import {
  FramedBytes,
  framesSize,
  gatheredSize,
  gatherFrames,
  isCompressedByGrpc,
  passFramedBytes,
  writeFrames,
} from '../../../../../qdl/native/channel/framed-bytes.ts';
import { decodePart, encodePart, type WirePart } from '../../../../../shared/wire/part-codec.ts';

// Goal: what goes to HTTP/2 is one gRPC message per part, head included, byte for byte, whether grpc-js
// lets the frames pass or copies them. Method: what grpc-js 1.14 does with a message, by hand; the same
// with the real grpc-js is in test/integration/qdl/wire-shortcuts.test.ts.

const parts: WirePart[] = [1, 300, 70_000].map((bytes, query) => ({
  query,
  querySampleCount: 1,
  samples: [
    {
      id: query + 7,
      payload: new Uint8Array(bytes).fill(query + 1),
      encoding: 0,
      offset: 0,
      total: 0,
    },
  ],
}));

function expectedFrames(): Buffer {
  const frames = parts.map((part) => {
    const message = encodePart(part);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    return Buffer.concat([head, message]);
  });
  return Buffer.concat(frames);
}

function framed(): FramedBytes {
  // A buffer that was in use before: nothing of its contents may go out.
  const buffer = Buffer.alloc(framesSize(parts) + 100, 0xee);
  return new FramedBytes(buffer.subarray(0, writeFrames(parts, buffer)));
}

/** What grpc-js makes of a message: IdentityHandler.writeMessage. */
async function frameLikeGrpc(message: FramedBytes | Buffer): Promise<Buffer> {
  const output = Buffer.alloc(message.length + 5);
  output.writeUInt32BE(message.length, 1);
  message.copy(output, 5);
  return output;
}

describe('frames of parts', () => {
  it('are one gRPC message per part', () => {
    expect(framed().bytes.equals(expectedFrames())).toBe(true);
  });

  it('survive the frame that grpc-js makes of them', async () => {
    expect((await frameLikeGrpc(framed())).equals(expectedFrames())).toBe(true);
  });

  it('are never taken for an empty message, which grpc-js calls written before it is', () => {
    expect(new FramedBytes(Buffer.alloc(3)).length).toBe(1);
    expect(new FramedBytes(Buffer.alloc(5)).length).toBe(1);
    expect(new FramedBytes(Buffer.alloc(50)).length).toBe(45);
  });

  it('are refused where grpc-js frames in another way', () => {
    const frames = framed();
    expect(() => frames.copy(Buffer.alloc(frames.length + 5), 0)).toThrow('another way');
    expect(() => frames.copy(Buffer.alloc(10), 5)).toThrow();
  });
});

describe('gathered frames', () => {
  const large = [400_000, 12, 256 * 1024].map((bytes, id) => ({
    ...{ id: id + 1, encoding: 1, offset: 5, total: bytes + 9 },
    payload: new Uint8Array(bytes).fill(id + 1),
  }));
  const mixed: WirePart[] = [
    ...parts,
    { query: 9, querySampleCount: 3, samples: large },
    { query: 10, querySampleCount: 1, samples: large.slice(0, 1) },
  ];

  /** Cuts a gRPC stream into its messages. */
  function messagesOf(stream: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    for (let at = 0; at < stream.length; ) {
      const end = at + 5 + stream.readUInt32BE(at + 1);
      messages.push(stream.subarray(at + 5, end));
      at = end;
    }
    return messages;
  }

  it('read as the parts that they are, and hold large payloads as views', () => {
    const target = Buffer.alloc(gatheredSize(mixed), 0xee);
    const segments = gatherFrames(mixed, target);
    const read = messagesOf(Buffer.concat(segments)).map((message) => decodePart(message));
    expect(read.map(plain)).toEqual(mixed.map(plain));
    const views = segments.filter((segment) => segment.buffer !== target.buffer);
    expect(views.map(({ buffer }) => buffer)).toEqual(
      [large[0], large[2], large[0]].map((sample) => sample?.payload.buffer),
    );
    expect(target.length).toBeLessThan(framesSize(mixed) / 3);
  });

  function plain({ query, querySampleCount, samples }: WirePart) {
    const all = samples.map(({ payload, ...rest }) => ({
      ...rest,
      payload: Buffer.from(payload).toString('base64'),
    }));
    return { query, querySampleCount, samples: all };
  }
});

describe('passFramedBytes', () => {
  it('hands the frames on without a copy, and leaves messages alone', async () => {
    const maker = { writeMessage: frameLikeGrpc };
    const call = { filterStack: { filters: [{}, { sendCompression: maker }] } };
    expect(passFramedBytes(call)).toBe(true);
    const frames = framed();
    expect(await maker.writeMessage(frames)).toBe(frames.bytes);
    const message = Buffer.from('plain');
    expect((await maker.writeMessage(message)).equals(await frameLikeGrpc(message))).toBe(true);
  });

  it.each([
    {},
    { filterStack: {} },
    { filterStack: { filters: [] } },
    { filterStack: { filters: [{ sendCompression: {} }] } },
  ])('changes nothing in a call that looks otherwise: %j', (call) => {
    const before = structuredClone(call);
    expect(passFramedBytes(call)).toBe(false);
    expect(call).toEqual(before);
  });
});

describe('isCompressedByGrpc', () => {
  class Identity {
    writeMessage(): void {}
  }
  const callWith = (filter: object) => ({ filterStack: { filters: [filter] } });
  const sendCompression = new Identity();

  it.each<[string, object, boolean | undefined]>([
    ['alike both ways', callWith({ sendCompression, receiveCompression: new Identity() }), false],
    ['another way back', callWith({ sendCompression, receiveCompression: new Map() }), true],
    ['a call that looks otherwise', {}, undefined],
    ['a filter without a way back', callWith({ sendCompression }), undefined],
  ])('%s', (_case, call, expected) => {
    expect(isCompressedByGrpc(call)).toBe(expected);
  });
});
