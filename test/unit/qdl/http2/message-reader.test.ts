import { describe, expect, it } from 'vitest';
import { MessageReader, type MessageReceiver } from '../../../../qdl/http2/message-reader.ts';
import {
  type BorrowedBytes,
  borrowedText,
  ReusedBuffers,
} from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { AnswerRoom } from '../../../../shared/http2/flow-control.ts';
import { grpcMessage } from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: messages are whole wherever frames and reads cut them.

class Recorder implements MessageReceiver {
  isOver = false;
  readonly messages: string[] = [];

  beginMessage(): void {}

  receive(message: BorrowedBytes): boolean {
    this.messages.push(borrowedText(message));
    return false;
  }
}

function readerOf(messageBytesMax = 3 * 1024 * 1024) {
  const receiver = new Recorder();
  const room = new AnswerRoom(messageBytesMax);
  const limits = { messageBytesMax, buffers: new ReusedBuffers(2), room };
  const reader = new MessageReader(limits, receiver);
  return { receiver, reader };
}

const MESSAGES = ['first', '', 'the third one'];
const BYTES = Buffer.concat(MESSAGES.map((text) => grpcMessage(Buffer.from(text))));

describe('MessageReader', () => {
  it('finds the messages at every split in three', () => {
    for (let first = 0; first <= BYTES.length; first += 1) {
      for (let second = first; second <= BYTES.length; second += 1) {
        const { receiver, reader } = readerOf();
        reader.read(BYTES, 0, first);
        reader.read(BYTES, first, second);
        expect(reader.isInside).toBe(![0, 10, 15, BYTES.length].includes(second));
        reader.read(BYTES, second, BYTES.length);
        expect(receiver.messages).toEqual(MESSAGES);
        expect(reader.isInside).toBe(false);
      }
    }
  });

  it('puts large messages together, one behind the other', () => {
    const large = Buffer.alloc(2_500_000, 'abcdefg');
    const bytes = Buffer.concat([grpcMessage(large), grpcMessage(large.subarray(1))]);
    const { receiver, reader } = readerOf();
    for (let at = 0; at < bytes.length; at += 65_536) {
      reader.read(bytes, at, Math.min(bytes.length, at + 65_536));
    }
    expect(receiver.messages).toHaveLength(2);
    expect(receiver.messages[0] === large.toString()).toBe(true);
    expect(receiver.messages[1] === large.toString('utf8', 1)).toBe(true);
  });

  it('stops at once when its call is over', () => {
    const { receiver, reader } = readerOf();
    const receive = receiver.receive.bind(receiver);
    receiver.receive = (message) => {
      receiver.isOver = true;
      return receive(message);
    };
    reader.read(BYTES, 0, BYTES.length);
    expect(receiver.messages).toEqual(['first']);
  });

  it.each([
    [
      'too long',
      grpcMessage(Buffer.alloc(11)),
      8,
      /a message of 11 bytes; limit --message-bytes-max is 10$/,
    ],
    ['compressed', grpcMessage(Buffer.alloc(3), 1), 13, /compressed by gRPC/],
    ['of no kind', grpcMessage(Buffer.alloc(3), 2), 13, /compressed-flag 2/],
  ])('refuses a message that is %s', (_name, bytes, code, text) => {
    const { receiver, reader } = readerOf(10);
    const read = (): void => reader.read(bytes, 0, bytes.length);
    expect(read).toThrow(expect.objectContaining({ code, message: expect.stringMatching(text) }));
    expect(receiver.messages).toEqual([]);
  });
});
