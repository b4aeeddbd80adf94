import { WINDOW_BYTES_LIMIT } from '../frames/frame-constants.ts';

/** What may be sent on a stream or on the connection. Below 0 after the peer made its windows smaller. */
export class SendWindow {
  bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** The peer gives room, or takes some back by a setting. @returns False when the window became too large. */
  add(bytes: number): boolean {
    this.bytes += bytes;
    return this.bytes <= WINDOW_BYTES_LIMIT;
  }
}
