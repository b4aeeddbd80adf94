/**
 * Runs `task` for 0 to count - 1, never more than `concurrency` at once, beginning with the lowest.
 * The first failure ends it: nothing further is started.
 */
export async function forEachIndex(
  count: number,
  concurrency: number,
  task: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const runLane = async (): Promise<void> => {
    while (next < count && !hasFailed) {
      const index = next;
      next += 1;
      try {
        await task(index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runLane));
}
