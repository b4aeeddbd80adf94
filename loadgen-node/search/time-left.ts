/**
 * Text on the remaining time of equal pieces of work: from finished ones, before the first from the
 * settings.
 * @param tookS Duration of each finished piece, in s.
 */
export function timeLeft(tookS: readonly number[], left: number, configuredNs: number): string {
  const mean = tookS.reduce((sum, seconds) => sum + seconds, 0) / tookS.length;
  return leftText((tookS.length === 0 ? configuredNs / 1e9 : mean) * left);
}

/** `about 40 s left`, `about 12 min left`, `about 3.5 h left`. */
export function leftText(seconds: number): string {
  if (seconds < 90) return `about ${Math.round(seconds)} s left`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
  return `about ${Number((seconds / 3600).toFixed(1))} h left`;
}
