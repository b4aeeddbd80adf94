import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { frame, settingsOf, word } from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  DONE,
  END,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR,
  holdRows,
  MESSAGE,
  OPEN,
  PROTOCOL_ERROR,
  RESET,
  row,
  setting,
} from '../../../../scenes/sut-node/http2-rows.ts';
import { INFER_BLOCK, inferHead, PING } from '../../../../scenes/sut-node/http2-server.ts';

// Goal: a server holds its peers to RFC 9113, section 6: each type of frame. Method: one connection
// per row, without a network: preface and settings, what the row says, and a PING.

const { data, headers, priority, rstStream, settings, pushPromise, ping, goAway } = FRAME_TYPE;
const { windowUpdate, continuation } = FRAME_TYPE;
const { endStream, endHeaders, padded, ack } = FLAG;

holdRows([
  row('6.1', 'DATA of the connection', [frame(data, 0, 0, MESSAGE)], PROTOCOL_ERROR),
  row(
    '6.1',
    'DATA with padding',
    [
      OPEN,
      frame(data, padded | endStream, 1, Buffer.concat([Buffer.of(3), MESSAGE, Buffer.alloc(3)])),
    ],
    'answered',
  ),
  row(
    '6.1',
    'DATA of nothing but padding',
    [OPEN, frame(data, padded, 1, Buffer.concat([Buffer.of(255), Buffer.alloc(255)])), END],
    'answered',
  ),
  row(
    '6.1',
    'DATA with as much padding as frame',
    [OPEN, frame(data, padded, 1, Buffer.of(2, 0))],
    PROTOCOL_ERROR,
  ),
  row('6.1', 'DATA with padding and not a byte', [OPEN, frame(data, padded, 1)], FRAME_SIZE_ERROR),
  row(
    '6.2',
    'HEADERS with padding',
    [
      frame(
        headers,
        endHeaders | padded,
        1,
        Buffer.concat([Buffer.of(2), INFER_BLOCK, Buffer.alloc(2)]),
      ),
      END,
    ],
    'answered',
  ),
  row(
    '6.2',
    'HEADERS with a priority',
    [
      frame(headers, endHeaders | FLAG.priority, 1, Buffer.concat([Buffer.alloc(5), INFER_BLOCK])),
      END,
    ],
    'answered',
  ),
  row(
    '6.2',
    'HEADERS with both',
    [
      frame(
        headers,
        endHeaders | padded | FLAG.priority,
        1,
        Buffer.concat([Buffer.of(1), Buffer.alloc(5), INFER_BLOCK, Buffer.alloc(1)]),
      ),
      END,
    ],
    'answered',
  ),
  row(
    '6.2',
    'HEADERS with padding longer than its frame',
    [frame(headers, endHeaders | padded, 1, Buffer.concat([Buffer.of(200), INFER_BLOCK]))],
    PROTOCOL_ERROR,
  ),
  row(
    '6.2',
    'HEADERS with padding and not a byte',
    [frame(headers, endHeaders | padded, 1)],
    FRAME_SIZE_ERROR,
  ),
  row(
    '6.2',
    'HEADERS with a priority and 4 bytes',
    [frame(headers, endHeaders | FLAG.priority, 1, Buffer.alloc(4))],
    FRAME_SIZE_ERROR,
  ),
  row('6.3', 'PRIORITY on stream 0', [frame(priority, 0, 0, Buffer.alloc(5))], PROTOCOL_ERROR),
  // The RFC's error is one of the stream (5.4.1).
  row(
    '6.3',
    'PRIORITY of 4 bytes',
    [OPEN, frame(priority, 0, 1, Buffer.alloc(4))],
    FRAME_SIZE_ERROR,
  ),
  row(
    '6.3',
    'PRIORITY amid a block',
    [frame(headers, 0, 1, INFER_BLOCK), frame(priority, 0, 1, Buffer.alloc(5))],
    PROTOCOL_ERROR,
  ),
  row('6.4', 'RST_STREAM of the connection', [frame(rstStream, 0, 0, word(8))], PROTOCOL_ERROR),
  row(
    '6.4',
    'RST_STREAM of 3 bytes',
    [OPEN, frame(rstStream, 0, 1, Buffer.alloc(3))],
    FRAME_SIZE_ERROR,
  ),
  row(
    '6.4',
    'RST_STREAM with an unknown code',
    [OPEN, frame(rstStream, 0, 1, word(0xdead))],
    'ignored',
  ),
  row('6.4', 'RST_STREAM twice', [OPEN, RESET, RESET], 'ignored'),
  row('6.5', 'SETTINGS of a stream', [frame(settings, 0, 1)], PROTOCOL_ERROR),
  row('6.5', 'SETTINGS of 5 bytes', [frame(settings, 0, 0, Buffer.alloc(5))], FRAME_SIZE_ERROR),
  row(
    '6.5',
    'a SETTINGS acknowledgement with contents',
    [frame(settings, ack, 0, Buffer.alloc(6))],
    FRAME_SIZE_ERROR,
  ),
  row(
    '6.5',
    'an answer to SETTINGS that nobody waits for',
    [frame(settings, ack, 0), frame(settings, ack, 0)],
    'ignored',
  ),
  row('6.5.2', 'ENABLE_PUSH 0', [setting(2, 0), ...DONE], 'answered'),
  row('6.5.2', 'ENABLE_PUSH 1', [setting(2, 1), ...DONE], 'answered'),
  row('6.5.2', 'ENABLE_PUSH 2', [setting(2, 2)], PROTOCOL_ERROR),
  row('6.5.2', 'MAX_CONCURRENT_STREAMS 0', [setting(3, 0), ...DONE], 'answered'),
  row('6.5.2', 'INITIAL_WINDOW_SIZE 2^31 - 1', [setting(4, 0x7fffffff), ...DONE], 'answered'),
  row('6.5.2', 'INITIAL_WINDOW_SIZE 2^31', [setting(4, 0x80000000)], FLOW_CONTROL_ERROR),
  row('6.5.2', 'MAX_FRAME_SIZE 2^14 - 1', [setting(5, 16_383)], PROTOCOL_ERROR),
  row('6.5.2', 'MAX_FRAME_SIZE 2^14', [setting(5, 16_384), ...DONE], 'answered'),
  row('6.5.2', 'MAX_FRAME_SIZE 2^24 - 1', [setting(5, 0xffffff), ...DONE], 'answered'),
  row('6.5.2', 'MAX_FRAME_SIZE 2^24', [setting(5, 0x1000000)], PROTOCOL_ERROR),
  row('6.5.2', 'MAX_HEADER_LIST_SIZE 0', [setting(6, 0), ...DONE], 'answered'),
  row('6.5.2', 'HEADER_TABLE_SIZE 2^32 - 1', [setting(1, 0xffffffff), ...DONE], 'answered'),
  row('6.5.2', 'a setting that nobody knows', [setting(0x4242, 1), ...DONE], 'answered'),
  row(
    '6.5.3',
    'one setting twice, the last one right',
    [
      Buffer.concat([
        frame(settings, 0, 0, Buffer.concat([settingsOf({ 4: 0 }), settingsOf({ 4: 100 })])),
      ]),
      ...DONE,
    ],
    'answered',
  ),
  row(
    '6.6',
    'PUSH_PROMISE of a client',
    [OPEN, frame(pushPromise, endHeaders, 1, Buffer.concat([word(2), INFER_BLOCK]))],
    PROTOCOL_ERROR,
  ),
  row('6.7', 'PING of a stream', [frame(ping, 0, 1, Buffer.alloc(8))], PROTOCOL_ERROR),
  row('6.7', 'PING of 7 bytes', [frame(ping, 0, 0, Buffer.alloc(7))], FRAME_SIZE_ERROR),
  row('6.7', 'PING of 9 bytes', [frame(ping, 0, 0, Buffer.alloc(9))], FRAME_SIZE_ERROR),
  row(
    '6.7',
    'an answer to a PING that nobody sent',
    [frame(ping, ack, 0, Buffer.alloc(8))],
    'ignored',
  ),
  row('6.8', 'GOAWAY of a stream', [frame(goAway, 0, 1, Buffer.alloc(8))], PROTOCOL_ERROR),
  row('6.8', 'GOAWAY of 7 bytes', [frame(goAway, 0, 0, Buffer.alloc(7))], FRAME_SIZE_ERROR),
  row(
    '6.9',
    'WINDOW_UPDATE of 3 bytes',
    [frame(windowUpdate, 0, 0, Buffer.alloc(3))],
    FRAME_SIZE_ERROR,
  ),
  row(
    '6.9',
    'WINDOW_UPDATE of 0 for the connection',
    [frame(windowUpdate, 0, 0, word(0))],
    PROTOCOL_ERROR,
  ),
  // The RFC's error is one of the stream (5.4.1).
  row(
    '6.9',
    'WINDOW_UPDATE of 0 for a stream',
    [OPEN, frame(windowUpdate, 0, 1, word(0))],
    PROTOCOL_ERROR,
  ),
  row(
    '6.9',
    'WINDOW_UPDATE with the reserved bit',
    [OPEN, frame(windowUpdate, 0, 1, word(0x80000001)), END],
    'answered',
  ),
  row(
    '6.9.1',
    'a window of the connection of 2^31 - 1',
    [frame(windowUpdate, 0, 0, word(0x7fffffff - 65_535)), ...DONE],
    'answered',
  ),
  row(
    '6.9.1',
    'a window of the connection of 2^31',
    [frame(windowUpdate, 0, 0, word(0x7fffffff - 65_534))],
    FLOW_CONTROL_ERROR,
  ),
  row(
    '6.9.1',
    'a window of a stream of 2^31 - 1',
    [OPEN, frame(windowUpdate, 0, 1, word(0x7fffffff - 65_535)), END],
    'answered',
  ),
  // The RFC's error is one of the stream (5.4.1).
  row(
    '6.9.1',
    'a window of a stream of 2^31',
    [OPEN, frame(windowUpdate, 0, 1, word(0x7fffffff - 65_534))],
    FLOW_CONTROL_ERROR,
  ),
  row(
    '6.9.2',
    'a setting that makes a window larger than 2^31 - 1',
    [OPEN, frame(windowUpdate, 0, 1, word(1)), setting(4, 0x7fffffff)],
    FLOW_CONTROL_ERROR,
  ),
  row(
    '6.10',
    'CONTINUATION behind a whole block',
    [OPEN, frame(continuation, endHeaders, 1, INFER_BLOCK)],
    PROTOCOL_ERROR,
  ),
  row(
    '6.10',
    'CONTINUATION of another stream',
    [frame(headers, 0, 1, INFER_BLOCK), frame(continuation, endHeaders, 3)],
    PROTOCOL_ERROR,
  ),
  row(
    '6.10',
    'CONTINUATION of the connection',
    [frame(headers, 0, 1, INFER_BLOCK), frame(continuation, endHeaders, 0)],
    PROTOCOL_ERROR,
  ),
  row(
    '6.10',
    'CONTINUATION behind DATA',
    [OPEN, frame(data, 0, 1, MESSAGE), frame(continuation, endHeaders, 1)],
    PROTOCOL_ERROR,
  ),
  row(
    '6.10',
    'HEADERS inside a block',
    [frame(headers, 0, 1, INFER_BLOCK), inferHead(3)],
    PROTOCOL_ERROR,
  ),
  row('6.10', 'DATA inside a block', [frame(headers, 0, 1, INFER_BLOCK), END], PROTOCOL_ERROR),
  row('6.10', 'PING inside a block', [frame(headers, 0, 1, INFER_BLOCK), PING], PROTOCOL_ERROR),
]);
