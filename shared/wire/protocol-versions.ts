import { packageVersion } from '../base/files/package-files.ts';
import { PROTOCOL_VERSION, PROTOCOL_VERSION_MIN } from './limits.ts';

/** Versions of the native protocol that one end speaks, both included. */
export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** Those of this code. */
export const OWN_VERSIONS: VersionRange = { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };

/** What there was when nobody told versions yet: an end that tells none speaks this. */
const UNTOLD: VersionRange = { min: 1, max: 1 };

/** Of the wire: both numbers, or neither. */
export function toldVersions(told: {
  readonly protocolVersionMin: number;
  readonly protocolVersionMax: number;
}): VersionRange {
  const { protocolVersionMin: min, protocolVersionMax: max } = told;
  return max === 0 ? UNTOLD : { min, max };
}

/** The newest version that both ends speak; undefined where there is none. */
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

/** This software as others are told of it: `longhaul 0.1.0`. */
export function ownSoftware(): string {
  return `longhaul ${packageVersion()}`;
}

/** Software of another end as it tells it. */
export function toldSoftware(told: {
  readonly software: string;
  readonly softwareVersion: string;
}): string {
  return told.software === ''
    ? 'software not told'
    : `${told.software} ${told.softwareVersion}`.trimEnd();
}
