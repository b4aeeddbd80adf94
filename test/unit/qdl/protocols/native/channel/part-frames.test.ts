import { describe, expect, it } from 'vitest';
import {
  frameSize,
  gatheredSize,
  gatherFrames,
} from '../../../../../../qdl/protocols/native/channel/part-frames.ts';
import { decodePart, encodePart, type WirePart } from '../../../../../../shared/wire/part-codec.ts';

// Goal: what goes to HTTP/2 is one gRPC message per part, head included, with large payloads where
// they lie.

const parts: WirePart[] = [1, 300, 30_000].map((bytes, query) => ({
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

const sizeOf = (list: readonly WirePart[]): number =>
  list.reduce((sum, part) => sum + frameSize(part), 0);

function expectedFrames(list: readonly WirePart[]): Buffer {
  const frames = list.map((part) => {
    const message = encodePart(part);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    return Buffer.concat([head, message]);
  });
  return Buffer.concat(frames);
}

describe('frames of parts', () => {
  it('are one gRPC message per part', () => {
    // A buffer that was in use before: nothing of its contents may go out.
    const buffer = Buffer.alloc(sizeOf(parts) + 100, 0xee);
    expect(Buffer.concat(gatherFrames(parts, buffer)).equals(expectedFrames(parts))).toBe(true);
  });

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
    expect(target.length).toBeLessThan(sizeOf(mixed) / 3);
  });

  function plain({ query, querySampleCount, samples }: WirePart) {
    const all = samples.map(({ payload, ...rest }) => ({
      ...rest,
      payload: Buffer.from(payload).toString('base64'),
    }));
    return { query, querySampleCount, samples: all };
  }
});
