/**
 * Time that equal pieces of work still take, in words: by those that are done, before the first by the settings.
 * @param tookS Seconds that each of the pieces took that are done.
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
