import {
  type BorrowedBytes,
  uint16At,
  uint32At,
} from '../../../../shared/base/bytes/borrowed-bytes.ts';
import {
  FRAME_BYTES_DEFAULT,
  FRAME_BYTES_LIMIT,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_LIMIT,
} from '../frames/frame-constants.ts';
import { Http2Error } from '../frames/http2-error.ts';

/** Numbers of settings. Rule: RFC 9113, section 6.5.2. */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

const ENTRY_BYTES = 6;

/** What the peer takes: what HTTP/2 says until its settings came. */
export class PeerSettings {
  headerTableBytes = 4096;
  /** Streams that may be open at once. */
  callsMax: number = Number.POSITIVE_INFINITY;
  /** Window of a new stream. */
  streamWindowBytes: number = WINDOW_BYTES_DEFAULT;
  frameBytesMax: number = FRAME_BYTES_DEFAULT;

  /** Reads a SETTINGS frame that lies in `[begin, end)`. @throws Http2Error for values that HTTP/2 forbids. */
  apply(chunk: BorrowedBytes, begin: number, end: number): void {
    if ((end - begin) % ENTRY_BYTES !== 0) {
      throw new Http2Error('FRAME_SIZE_ERROR', `settings of ${end - begin} bytes`);
    }
    for (let at = begin; at < end; at += ENTRY_BYTES) {
      this.#set(uint16At(chunk, at), uint32At(chunk, at + 2));
    }
  }

  #set(id: number, value: number): void {
    if (id === SETTING.headerTableSize) this.headerTableBytes = value;
    else if (id === SETTING.enablePush && value !== 0) throw wrong('ENABLE_PUSH', value);
    else if (id === SETTING.maxConcurrentStreams) this.callsMax = value;
    else if (id === SETTING.initialWindowSize) this.#setWindow(value);
    else if (id === SETTING.maxFrameSize) this.#setFrameBytesMax(value);
    // Others are to be ignored. The list size of the peer is advice; requests here have few headers.
  }

  #setWindow(value: number): void {
    if (value > WINDOW_BYTES_LIMIT) {
      throw new Http2Error('FLOW_CONTROL_ERROR', `the setting INITIAL_WINDOW_SIZE ${value}`);
    }
    this.streamWindowBytes = value;
  }

  #setFrameBytesMax(value: number): void {
    if (value < FRAME_BYTES_DEFAULT || value > FRAME_BYTES_LIMIT) {
      throw wrong('MAX_FRAME_SIZE', value);
    }
    this.frameBytesMax = value;
  }
}

function wrong(name: string, value: number): Http2Error {
  return new Http2Error('PROTOCOL_ERROR', `the setting ${name} ${value}`);
}
