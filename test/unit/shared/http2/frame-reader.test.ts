import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BorrowedBytes, borrowedText } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { FrameReader, type FrameReceiver } from '../../../../shared/http2/frame-reader.ts';
import { FLAG, FRAME_TYPE, Http2Error } from '../../../../shared/http2/frames.ts';
import { frame } from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: frames are found wherever the bytes are cut. Method: all splits of a sequence that has
// every kind.

/** Writes down what it hears; pieces of DATA are joined. */
class Recorder implements FrameReceiver {
  readonly heard: string[] = [];
  #pieces = '';

  onDataHead(streamId: number, length: number): void {
    this.heard.push(`DATA ${streamId} ${length}`);
    this.#pieces = '';
  }

  onDataPiece(chunk: BorrowedBytes, begin: number, end: number): void {
    this.#pieces += borrowedText(chunk, 'latin1', begin, end);
  }

  onDataEnd(endsStream: boolean): void {
    this.heard.push(`${this.#pieces}${endsStream ? ' end' : ''}`);
  }

  onFrame(
    type: number,
    flags: number,
    streamId: number,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ): void {
    this.heard.push(`${type} ${flags} ${streamId} ${borrowedText(chunk, 'latin1', begin, end)}`);
  }
}

const SEQUENCE = Buffer.concat([
  frame(FRAME_TYPE.settings, 0, 0),
  frame(FRAME_TYPE.headers, FLAG.endHeaders, 1, Buffer.from('block')),
  frame(FRAME_TYPE.data, 0, 1, Buffer.from('abc')),
  frame(FRAME_TYPE.data, FLAG.padded, 1, Buffer.from('\x02defXX')),
  frame(0x77, 3, 5, Buffer.from('nobody knows')),
  frame(FRAME_TYPE.data, FLAG.padded, 1, Buffer.from('\x01X')),
  frame(FRAME_TYPE.data, FLAG.padded, 1, Buffer.from('\x00')),
  frame(FRAME_TYPE.data, FLAG.endStream, 0x7fffffff),
  frame(FRAME_TYPE.ping, 1, 0, Buffer.from('12345678')),
]);

const HEARD = [
  '4 0 0 ',
  '1 4 1 block',
  'DATA 1 3',
  'abc',
  'DATA 1 6',
  'def',
  '119 3 5 ',
  'DATA 1 2',
  '',
  'DATA 1 1',
  '',
  'DATA 2147483647 0',
  ' end',
  '6 1 0 12345678',
];

function heardFrom(chunks: readonly Buffer[]): string[] {
  const recorder = new Recorder();
  const reader = new FrameReader(recorder, 16_384);
  for (const chunk of chunks) reader.read(chunk);
  return recorder.heard;
}

describe('FrameReader', () => {
  it('hears the same at every split in three', () => {
    for (let first = 0; first <= SEQUENCE.length; first += 1) {
      for (let second = first; second <= SEQUENCE.length; second += 1) {
        const chunks = [
          SEQUENCE.subarray(0, first),
          SEQUENCE.subarray(first, second),
          SEQUENCE.subarray(second),
        ];
        expect(heardFrom(chunks)).toEqual(HEARD);
      }
    }
  });

  it('hears the same byte by byte', () => {
    const chunks = Array.from(SEQUENCE, (_, i) => SEQUENCE.subarray(i, i + 1));
    expect(heardFrom(chunks)).toEqual(HEARD);
  });

  it.each([
    ['a frame above the size', frame(0, 0, 1, Buffer.alloc(16_385)), 'FRAME_SIZE_ERROR'],
    ['padding without a byte', frame(0, FLAG.padded, 1), 'FRAME_SIZE_ERROR'],
    [
      'padding longer than its frame',
      frame(0, FLAG.padded, 1, Buffer.of(3, 0, 0)),
      'PROTOCOL_ERROR',
    ],
  ])('refuses %s', (_name, bytes, code) => {
    expect(() => heardFrom([bytes])).toThrow(expect.objectContaining({ code }));
  });

  it('refuses headers that it would have to keep in memory', () => {
    const reader = new FrameReader(new Recorder(), 256 * 1024);
    expect(() => reader.read(frame(1, 4, 1, Buffer.alloc(65 * 1024)))).toThrow(
      expect.objectContaining({ code: 'ENHANCE_YOUR_CALM' }),
    );
  });

  it('fails on anything else with an error of HTTP/2, and always ends', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 6 }), (chunks) => {
        try {
          heardFrom(chunks.map((chunk) => Buffer.from(chunk)));
        } catch (error) {
          expect(error).toBeInstanceOf(Http2Error);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
