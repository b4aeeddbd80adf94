import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { frame } from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  callOf,
  callOfEntries,
  callWith,
  callWithout,
  holdRows,
  INFER_ENTRIES,
  MESSAGE,
  NOTHING,
  OPEN,
  PROTOCOL_ERROR,
  row,
} from '../../../../scenes/sut-node/http2-rows.ts';
import { blockOf, INFER_HEADERS } from '../../../../scenes/sut-node/http2-server.ts';

// Goal: a server holds its peers to RFC 9113, section 8: what a request is. Method: one connection
// per row, without a network: preface and settings, what the row says, and a PING.

const { data, headers } = FRAME_TYPE;

const { endStream, endHeaders } = FLAG;

const MALFORMED = 'stream PROTOCOL_ERROR';

holdRows([
  row(
    '8.1',
    'trailers',
    [
      OPEN,
      frame(data, 0, 1, MESSAGE),
      frame(headers, endHeaders | endStream, 1, blockOf({ 'x-last': '1' })),
    ],
    'answered',
  ),
  row(
    '8.1',
    'empty trailers',
    [OPEN, frame(data, 0, 1, MESSAGE), frame(headers, endHeaders | endStream, 1)],
    'answered',
  ),
  // The RFC's error is one of the stream (5.4.1).
  row(
    '8.1',
    'a block amid a call that does not end it',
    [OPEN, frame(headers, endHeaders, 1, blockOf({ a: 'b' }))],
    PROTOCOL_ERROR,
  ),
  row(
    '8.1',
    'trailers with a pseudo-header',
    [OPEN, frame(headers, endHeaders | endStream, 1, blockOf({ ':path': '/' }))],
    MALFORMED,
  ),
  row(
    '8.1',
    'trailers with a name in upper case',
    [OPEN, frame(headers, endHeaders | endStream, 1, blockOf({ A: 'b' }))],
    MALFORMED,
  ),
  row(
    '8.1.1',
    'a content-length that is that of the contents',
    callWith({ 'content-length': `${MESSAGE.length}` }),
    'answered',
  ),
  ...[MESSAGE.length - 1, MESSAGE.length + 1, '', '+12', 'x'].map((length) =>
    row(
      '8.1.1',
      `contents of ${MESSAGE.length} bytes, and the content-length "${length}"`,
      callWith({ 'content-length': `${length}` }),
      MALFORMED,
    ),
  ),
  row(
    '8.1.1',
    'content-length twice',
    callOfEntries([
      ...INFER_ENTRIES,
      ['content-length', `${MESSAGE.length}`],
      ['content-length', `${MESSAGE.length}`],
    ]),
    MALFORMED,
  ),
  row('8.2.1', 'a name in upper case', callWith({ 'X-Name': '1' }), MALFORMED),
  row('8.2.1', 'a name with a space', callWith({ 'x name': '1' }), MALFORMED),
  row('8.2.1', 'a name with a byte above 0x7f', callWith({ 'x\xff': '1' }), MALFORMED),
  row('8.2.1', 'a name with a colon in it', callWith({ 'x:y': '1' }), MALFORMED),
  row('8.2.1', 'an empty name', callWith({ '': '1' }), MALFORMED),
  row('8.2.1', 'a value with a NUL', callWith({ x: 'a\0b' }), MALFORMED),
  row('8.2.1', 'a value with a line feed', callWith({ x: 'a\nb' }), MALFORMED),
  row('8.2.1', 'a value with a carriage return', callWith({ x: 'a\rb' }), MALFORMED),
  row('8.2.1', 'a value that begins with a space', callWith({ x: ' a' }), MALFORMED),
  row('8.2.1', 'a value that ends with a tab', callWith({ x: 'a\t' }), MALFORMED),
  row('8.2.1', 'a value with bytes above 0x7f', callWith({ x: 'a\xffb' }), 'answered'),
  row('8.2.1', 'an empty value', callWith({ x: '' }), 'answered'),
  ...['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'].map((name) =>
    row('8.2.2', `the header ${name}`, callWith({ [name]: 'x' }), MALFORMED),
  ),
  row('8.2.2', 'te with anything but trailers', callWith({ te: 'gzip' }), MALFORMED),
  row('8.2.2', 'no te', callWithout('te'), 'answered'),
  row(
    '8.3',
    'a pseudo-header behind a header',
    callOfEntries([...INFER_ENTRIES.slice(1), [':method', 'POST']]),
    MALFORMED,
  ),
  row(
    '8.3',
    'a pseudo-header that nobody knows',
    callOfEntries([[':other', '1'], ...INFER_ENTRIES]),
    MALFORMED,
  ),
  row(
    '8.3',
    'a pseudo-header of answers',
    callOfEntries([[':status', '200'], ...INFER_ENTRIES]),
    MALFORMED,
  ),
  ...[':method', ':scheme', ':path'].flatMap((name) => [
    row('8.3.1', `no ${name}`, callWithout(name), MALFORMED),
    row(
      '8.3.1',
      `${name} twice`,
      callOfEntries([[name, INFER_HEADERS[name] as string], ...INFER_ENTRIES]),
      MALFORMED,
    ),
  ]),
  row(
    '8.3.1',
    ':authority twice',
    callOfEntries([[':authority', 'node'], ...INFER_ENTRIES]),
    MALFORMED,
  ),
  row('8.3.1', 'no :authority', callWithout(':authority'), 'answered'),
  row('8.3.1', 'an empty :path', callWith({ ':path': '' }), MALFORMED),
  row('8.3.1', 'no header at all', callOf(NOTHING), MALFORMED),
  // Whoever takes the first reads another token than who takes the last.
  row(
    'gRPC',
    'authorization twice',
    callOfEntries([...INFER_ENTRIES, ['authorization', 'Bearer a'], ['authorization', 'Bearer a']]),
    'status 16',
  ),
]);
