import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { frame, word } from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  COMPRESSION_ERROR,
  DONE,
  END,
  FRAME_SIZE_ERROR,
  headOnly,
  holdRows,
  MESSAGE,
  NOTHING,
  OPEN,
  PROTOCOL_ERROR,
  RESET,
  row,
  TOO_MUCH,
} from '../../../../scenes/sut-node/http2-rows.ts';
import { blockOf, INFER_BLOCK, inferHead, PING } from '../../../../scenes/sut-node/http2-server.ts';

// Goal: a server holds its peers to RFC 9113, sections 3 to 5: framing, header blocks, streams.
// Method: one connection per row, without a network: preface and settings, what the row says, and a
// PING.

const { data, headers, priority, settings, ping } = FRAME_TYPE;
const { windowUpdate, continuation } = FRAME_TYPE;
const { endStream, endHeaders, ack } = FLAG;

holdRows([
  row('3.4', 'settings of the peer, and its answer', [frame(settings, ack, 0)], 'ignored'),
  row(
    '4.1',
    'a frame with the reserved bit of its stream',
    [OPEN, frame(data, endStream, 0x80000001, MESSAGE)],
    'answered',
  ),
  row(
    '4.1',
    'flags that mean nothing',
    [frame(headers, endHeaders | 0xc2, 1, INFER_BLOCK), frame(data, endStream | 0xf6, 1, MESSAGE)],
    'answered',
  ),
  row(
    '4.2',
    'DATA of more than the setting',
    [OPEN, headOnly(data, 1024 * 1024 + 1, 1)],
    FRAME_SIZE_ERROR,
  ),
  row(
    '4.2',
    'HEADERS of more than the setting',
    [headOnly(headers, 1024 * 1024 + 1, 1)],
    FRAME_SIZE_ERROR,
  ),
  row(
    '4.2',
    'an unknown frame of more than the setting',
    [headOnly(0x42, 1024 * 1024 + 1, 0)],
    FRAME_SIZE_ERROR,
  ),
  row('4.2', 'PING of more than the setting', [headOnly(ping, 0xffffff, 0)], FRAME_SIZE_ERROR),
  // Nobody needs so large a block: what it would hold is over the limit of the header list.
  row(
    '4.2',
    'HEADERS of more than a header list may have',
    [headOnly(headers, 70_000, 1)],
    TOO_MUCH,
  ),
  row('4.3', 'a block in one frame', DONE, 'answered'),
  row(
    '4.3',
    'a block in frames of single bytes',
    [
      frame(headers, 0, 1, INFER_BLOCK.subarray(0, INFER_BLOCK.length - 20)),
      ...[...INFER_BLOCK.subarray(-20)].map((byte, i) =>
        frame(continuation, i === 19 ? endHeaders : 0, 1, Buffer.of(byte)),
      ),
      END,
    ],
    'answered',
  ),
  row(
    '4.3',
    'a block whose first frame is empty',
    [frame(headers, 0, 1), frame(continuation, endHeaders, 1, INFER_BLOCK), END],
    'answered',
  ),
  row(
    '4.3',
    'a block that cannot be read',
    [frame(headers, endHeaders, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff))],
    COMPRESSION_ERROR,
  ),
  row(
    '4.3',
    'a block that cannot be read of a stream that is over',
    [...DONE, frame(headers, endHeaders | endStream, 1, Buffer.of(0x80))],
    COMPRESSION_ERROR,
  ),
  row('5.1', 'DATA of an idle stream', [frame(data, 0, 1, MESSAGE)], PROTOCOL_ERROR),
  row('5.1', 'RST_STREAM of an idle stream', [RESET], PROTOCOL_ERROR),
  row(
    '5.1',
    'WINDOW_UPDATE of an idle stream',
    [frame(windowUpdate, 0, 1, word(1))],
    PROTOCOL_ERROR,
  ),
  row(
    '5.1',
    'CONTINUATION of an idle stream',
    [frame(continuation, endHeaders, 1, INFER_BLOCK)],
    PROTOCOL_ERROR,
  ),
  row(
    '5.1',
    'PRIORITY of an idle stream',
    [frame(priority, 0, 1, Buffer.alloc(5)), ...DONE],
    'answered',
  ),
  // Half closed, and closed by both ends: an error of stream or connection, or nothing for a while
  // (5.1, "closed").
  row(
    '5.1',
    'DATA behind the end of the stream',
    [...DONE, frame(data, 0, 1, MESSAGE)],
    'answered',
  ),
  row(
    '5.1',
    'HEADERS behind the end of the stream',
    [...DONE, frame(headers, endHeaders | endStream, 1, blockOf({ a: 'b' }))],
    'answered',
  ),
  row(
    '5.1',
    'WINDOW_UPDATE behind the end of the stream',
    [...DONE, frame(windowUpdate, 0, 1, word(1))],
    'answered',
  ),
  row('5.1', 'RST_STREAM behind the end of the stream', [...DONE, RESET], 'answered'),
  row(
    '5.1',
    'PRIORITY behind the end of the stream',
    [...DONE, frame(priority, 0, 1, Buffer.alloc(5))],
    'answered',
  ),
  row(
    '5.1',
    'DATA behind the reset of the stream',
    [OPEN, RESET, frame(data, 0, 1, MESSAGE)],
    'ignored',
  ),
  row('5.1.1', 'a stream with an even number', [inferHead(2)], PROTOCOL_ERROR),
  row('5.1.1', 'HEADERS of the connection', [inferHead(0)], PROTOCOL_ERROR),
  row(
    '5.1.1',
    'a stream with a smaller number than the one before',
    [inferHead(5), inferHead(3)],
    PROTOCOL_ERROR,
  ),
  row('5.1.1', 'a stream whose number was used', [...DONE, inferHead(1)], PROTOCOL_ERROR),
  row('5.1.1', 'a stream with the largest number', [inferHead(0x7fffffff), ...[PING]], 'ignored'),
  row('5.1.1', 'numbers that are left out', [inferHead(1), inferHead(99), END], 'answered'),
  row(
    '5.1.2',
    'more streams than the setting',
    Array.from({ length: 65 }, (_, i) => inferHead(2 * i + 1)),
    'stream REFUSED_STREAM',
  ),
  row(
    '5.1.2',
    'as many streams as the setting',
    Array.from({ length: 64 }, (_, i) => inferHead(2 * i + 1)),
    'ignored',
  ),
  row(
    '5.5',
    'an unknown frame',
    [frame(0x42, 0xff, 0, Buffer.alloc(100)), frame(0xff, 0, 7, NOTHING), ...DONE],
    'answered',
  ),
  row(
    '5.5',
    'an unknown frame on an open stream',
    [OPEN, frame(0x42, 0xff, 1, Buffer.alloc(100)), END],
    'answered',
  ),
  row(
    '5.5',
    'an unknown frame inside a block',
    [frame(headers, 0, 1, INFER_BLOCK), frame(0x42, 0, 1)],
    PROTOCOL_ERROR,
  ),
]);
