import { type BorrowedBytes, copyOf } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { HpackDecoder } from '../hpack/hpack-decoder.ts';
import { type ResponseHead, readResponseHead } from './response-head.ts';

/** SETTINGS_HEADER_TABLE_SIZE of this end: HTTP/2's default, so that it need not be said. */
const TABLE_BYTES = 4096;

/** Blocks that are known by their bytes: head, trailers, and those of another method. */
const KNOWN_MAX = 4;

/** Larger blocks are not known by their bytes: comparing them would cost as much as reading them. */
const KNOWN_BYTES_MAX = 256;

interface KnownBlock {
  readonly bytes: Uint8Array;
  /** State of the table that it was read with, and left as it was. */
  readonly changeCount: number;
  readonly head: ResponseHead;
}

/**
 * Reads the header blocks of the answers. Those of one method repeat byte for byte as soon as both ends know the
 * headers. A block that neither changed the table then nor finds it changed now means the same: it is not read again.
 */
export class ResponseHeads {
  readonly #decoder: HpackDecoder;
  readonly #known: KnownBlock[] = [];
  #next = 0;

  /** @param listBytesMax SETTINGS_MAX_HEADER_LIST_SIZE of this end. */
  constructor(listBytesMax: number) {
    this.#decoder = new HpackDecoder(TABLE_BYTES, listBytesMax);
  }

  /** The block in `[begin, end)`; every block of the connection must come by. @throws Http2Error as the decoder. */
  read(block: BorrowedBytes, begin: number, end: number): ResponseHead {
    const { changeCount } = this.#decoder;
    for (const known of this.#known) {
      if (known.changeCount === changeCount && isEqual(known.bytes, block, begin, end)) {
        return known.head;
      }
    }
    const head = readResponseHead(this.#decoder.decode(block, begin, end));
    const isRepeatable =
      this.#decoder.changeCount === changeCount && end - begin <= KNOWN_BYTES_MAX;
    if (isRepeatable) {
      this.#known[this.#next] = { bytes: copyOf(block, begin, end), changeCount, head };
      this.#next = (this.#next + 1) % KNOWN_MAX;
    }
    return head;
  }
}

function isEqual(bytes: Uint8Array, block: BorrowedBytes, begin: number, end: number): boolean {
  if (bytes.length !== end - begin) return false;
  for (let i = 0; i < bytes.length; i += 1) {
    if (bytes[i] !== block[begin + i]) return false;
  }
  return true;
}
