const cleanups = new Set<() => void>();

/**
 * Calls something when this process ends, however many hosts there are: process warns of the eleventh listener.
 * @returns what takes it back
 */
export function atExit(cleanup: () => void): () => void {
  if (cleanups.size === 0) process.once('exit', runAll);
  cleanups.add(cleanup);
  return () => {
    cleanups.delete(cleanup);
    if (cleanups.size === 0) process.off('exit', runAll);
  };
}

function runAll(): void {
  for (const cleanup of cleanups) cleanup();
}
