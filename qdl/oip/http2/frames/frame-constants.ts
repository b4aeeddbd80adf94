/** Rule: RFC 9113, section 6. */
export const FRAME_TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames; which frame has which: RFC 9113, section 6. */
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 };

/** Length, type, flags and stream. */
export const FRAME_HEAD_BYTES = 9;

/** What both ends take without being asked, and the least that a peer must take. */
export const FRAME_BYTES_DEFAULT = 16_384;

/** Largest value of a setting of the frame size. */
export const FRAME_BYTES_LIMIT: number = 2 ** 24 - 1;

/** Windows before anything else was said. */
export const WINDOW_BYTES_DEFAULT = 65_535;

/** Largest window, and largest number of a stream. */
export const WINDOW_BYTES_LIMIT: number = 2 ** 31 - 1;

/** What a client sends first. */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
