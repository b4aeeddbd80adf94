/** Newest version of the native protocol that this code speaks (Open.protocol_version). What raises it: docs/upgrade.md. */
export const PROTOCOL_VERSION: number = 1;

/** Oldest version that this code still speaks. */
export const PROTOCOL_VERSION_MIN: number = 1;

const MIB = 1024 * 1024;

/** Payload bytes of one part: default of the QDL, and what a node takes unless it says less. */
export const PART_BYTES_MAX_DEFAULT: number = 4 * MIB;

/**
 * Largest gRPC message on either side. A part and its headers must fit, and so must a response that a
 * benchmark sends whole. grpc-js's own default of 4 MiB is below one part.
 */
export const MESSAGE_BYTES_MAX_DEFAULT: number = 64 * MIB;

/** Payload bytes that a node's queue holds before it stops granting credit. */
export const QUEUE_BYTES_MAX_DEFAULT: number = 256 * MIB;

/** Samples that a node's queue holds before it stops granting credit. */
export const QUEUE_SAMPLES_MAX_DEFAULT = 65_536;

/**
 * HTTP/2 receive window of a stream and of a connection, on both ends. The protocol's default of
 * 64 KiB moves 34 queries of 602 KB per second over a link of 1 ms delay; 16 MiB moves 1,552.
 */
export const RECEIVE_WINDOW_BYTES_DEFAULT: number = 16 * MIB;
