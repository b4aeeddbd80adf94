import { packageVersion } from '../base/files/package-files.ts';

/**
 * Newest version of the native protocol that this code speaks (Open.protocol_version). What raises
 * it: proto/README.md.
 */
export const PROTOCOL_VERSION: number = 1;

/** Oldest version that this code still speaks. */
export const PROTOCOL_VERSION_MIN: number = 1;

const MIB = 1024 * 1024;

/** Payload bytes of one part: default of the QDL, and limit of a node that declares none. */
export const PART_BYTES_MAX_DEFAULT: number = 4 * MIB;

/**
 * Largest gRPC message on either side. A part and its headers must fit, and so must a response that
 * a benchmark sends whole. grpc-js's own default of 4 MiB is below one part.
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

/** Range of native protocol versions of one end, inclusive. */
interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** Versions of this code. */
export const OWN_VERSIONS: VersionRange = { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };

/** Assumed versions of a peer that reports none. */
const UNTOLD: VersionRange = { min: 1, max: 1 };

/** Versions in a message: both numbers, or neither. */
export function toldVersions(told: {
  readonly protocolVersionMin: number;
  readonly protocolVersionMax: number;
}): VersionRange {
  const { protocolVersionMin: min, protocolVersionMax: max } = told;
  return max === 0 ? UNTOLD : { min, max };
}

/** The newest version that both ends speak; undefined if there is none. */
export function agreedVersion(
  theirs: VersionRange,
  ours: VersionRange = OWN_VERSIONS,
): number | undefined {
  const version = Math.min(theirs.max, ours.max);
  return version >= Math.max(theirs.min, ours.min) ? version : undefined;
}

/** `version 1`, or `versions 1 to 2`. */
export function versionsInWords({ min, max }: VersionRange): string {
  return min === max ? `version ${max}` : `versions ${min} to ${max}`;
}

/** This software's name and version for others: `longhaul 0.1.0`. */
export function ownSoftware(): string {
  return `longhaul ${packageVersion()}`;
}

/** Reported software of the other end. */
export function toldSoftware(told: {
  readonly software: string;
  readonly softwareVersion: string;
}): string {
  return told.software === ''
    ? 'software not reported'
    : `${told.software} ${told.softwareVersion}`.trimEnd();
}
