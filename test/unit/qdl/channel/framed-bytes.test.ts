import { describe, expect, it } from 'vitest';
import { FramedBytes, passFramedBytes } from '../../../../qdl/channel/framed-bytes.ts';
import { framesSize, writeFrames } from '../../../../qdl/channel/part-frames.ts';
import { encodePart, type WirePart } from '../../../../shared/wire/part-codec.ts';

// Goal: what goes to HTTP/2 is one gRPC message per part, head included, byte for byte, whether grpc-js
// lets the frames pass or copies them. Method: what grpc-js 1.14 does with a message, by hand; the same
// with the real grpc-js is in test/integration/wire-shortcuts.test.ts.

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

  it('are refused where grpc-js frames in another way', () => {
    const frames = framed();
    expect(() => frames.copy(Buffer.alloc(frames.length + 5), 0)).toThrow('another way');
    expect(() => frames.copy(Buffer.alloc(10), 5)).toThrow();
  });
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
