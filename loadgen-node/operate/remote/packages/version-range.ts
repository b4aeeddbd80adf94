const VERSION = /^(\d+)\.(\d+)\.(\d+)([-+][0-9A-Za-z.+-]*)?$/;

/**
 * Whether a version is one that a package asks for: an exact one, `^1.2.3` or `~1.2.3`, as package.json files of longhaul have them.
 * Anything else is met by nothing, and so is a range by a version before its release.
 */
export function isVersionInRange(version: string, range: string): boolean {
  if (version === range) return true;
  const [, sign, from = ''] = /^([~^])(.*)$/.exec(range) ?? [];
  const [low, is] = [VERSION.exec(from), VERSION.exec(version)];
  if (low === null || is === null || low[4] !== undefined || is[4] !== undefined) return false;
  const [major, minor, patch] = low.slice(1, 4).map(Number) as [number, number, number];
  const [isMajor, isMinor, isPatch] = is.slice(1, 4).map(Number) as [number, number, number];
  if (isMajor !== major) return false;
  // Of ^0.x a new minor version, of ^0.0.x a new patch may break what was.
  const isMinorFixed = sign === '~' || major === 0;
  const isPatchFixed = sign === '^' && major === 0 && minor === 0;
  if (isMinor !== minor) return !isMinorFixed && isMinor > minor;
  return isPatchFixed ? isPatch === patch : isPatch >= patch;
}
