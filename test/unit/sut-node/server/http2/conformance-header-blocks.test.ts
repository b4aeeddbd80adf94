import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { frame } from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  before,
  behind,
  COMPRESSION_ERROR,
  END,
  holdRows,
  row,
} from '../../../../scenes/sut-node/http2-rows.ts';
import { INFER_BLOCK } from '../../../../scenes/sut-node/http2-server.ts';

// Goal: a server holds its peers to RFC 7541: header blocks. Method: one connection per row,
// without a network: preface and settings, what the row says, and a PING.

const { headers } = FRAME_TYPE;

const { endHeaders } = FLAG;

holdRows([
  row('RFC 7541 4.2', 'a table of 0 bytes', before(0x20), 'answered'),
  row(
    'RFC 7541 4.2',
    'a table of 0 bytes, and of 4096 again',
    before(0x20, 0x3f, 0xe1, 0x1f),
    'answered',
  ),
  row('RFC 7541 4.2', 'a change of the table behind a header', behind(0x20), COMPRESSION_ERROR),
  row(
    'RFC 7541 5.1',
    'an integer with zeros at its end',
    before(0x3f, 0x80, 0x80, 0x00),
    'answered',
  ),
  row(
    'RFC 7541 5.1',
    'an integer of five bytes',
    behind(0x7f, 0xff, 0xff, 0xff, 0xff, 0x7f),
    COMPRESSION_ERROR,
  ),
  row(
    'RFC 7541 5.1',
    'an integer of zeros without end',
    behind(0xff, ...Array.from({ length: 40 }, () => 0x80)),
    COMPRESSION_ERROR,
  ),
  row('RFC 7541 5.1', 'an integer that ends with the block', behind(0xff, 0x80), COMPRESSION_ERROR),
  row(
    'RFC 7541 5.2',
    'a name that is longer than the block',
    behind(0x00, 0x05, 0x61),
    COMPRESSION_ERROR,
  ),
  row(
    'RFC 7541 5.2',
    'a value that is longer than the block',
    behind(0x00, 0x01, 0x61, 0x02, 0x61),
    COMPRESSION_ERROR,
  ),
  row('RFC 7541 5.2', 'a name without a value', behind(0x00, 0x01, 0x61), COMPRESSION_ERROR),
  row('RFC 7541 5.2', 'a Huffman code', behind(0x00, 0x01, 0x61, 0x81, 0x1f), 'answered'),
  row(
    'RFC 7541 5.2',
    'a Huffman code that is padded with zeros',
    behind(0x00, 0x01, 0x61, 0x81, 0x18),
    COMPRESSION_ERROR,
  ),
  row(
    'RFC 7541 5.2',
    'a Huffman code with padding of a byte',
    behind(0x00, 0x01, 0x61, 0x82, 0x1f, 0xff),
    COMPRESSION_ERROR,
  ),
  row(
    'RFC 7541 5.2',
    'a Huffman code with the end of the text',
    behind(0x00, 0x01, 0x61, 0x84, 0xff, 0xff, 0xff, 0xff),
    COMPRESSION_ERROR,
  ),
  row('RFC 7541 6.1', 'index 0', behind(0x80), COMPRESSION_ERROR),
  row('RFC 7541 6.1', 'an index behind both tables', behind(0xbe), COMPRESSION_ERROR),
  row(
    'RFC 7541 6.1',
    'an index of the table of the connection',
    behind(0x40, 0x01, 0x61, 0x01, 0x62, 0xbe),
    'answered',
  ),
  row(
    'RFC 7541 6.1',
    'an index that the table has lost',
    [
      frame(
        headers,
        endHeaders,
        1,
        Buffer.concat([INFER_BLOCK, Buffer.of(0x40, 0x01, 0x61, 0x01, 0x62)]),
      ),
      END,
      frame(headers, endHeaders, 3, Buffer.concat([Buffer.of(0x20), INFER_BLOCK, Buffer.of(0xbe)])),
    ],
    COMPRESSION_ERROR,
  ),
  row(
    'RFC 7541 6.2.1',
    'a name by an index behind both tables',
    behind(0x7e, 0x01, 0x61),
    COMPRESSION_ERROR,
  ),
  row('RFC 7541 6.2.2', 'a name by index', behind(0x0f, 0x01, 0x01, 0x61), 'answered'),
  row(
    'RFC 7541 6.2.3',
    'a header that is never indexed',
    behind(0x10, 0x01, 0x61, 0x01, 0x62),
    'answered',
  ),
  row('RFC 7541 6.3', 'a table above the setting', before(0x3f, 0xe2, 0x1f), COMPRESSION_ERROR),
]);
