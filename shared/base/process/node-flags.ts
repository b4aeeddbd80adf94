/**
 * Flags of every Node.js process of longhaul: the program's first line, the systemd units and the processes
 * that it starts itself. V8 begins with a young generation of 1 MiB and grows it only where much survives.
 * While it is small, read buffers of samples under way are moved to the old generation, and V8 collects the
 * whole heap again and again, by chance, for the whole life of the process: at 150 kB and 1,000 samples/s
 * every 160 ms, with a p99 of 18 to 27 ms in place of 3 to 5. 16 MiB is the size that V8 would grow to.
 * Enough on Node.js 20 and 22; 24 and 26 count memory outside the heap in another way (deploy/tuning.md).
 */
export const NODE_FLAGS: readonly string[] = ['--min-semi-space-size=16'];

const NAME = /^--min[-_]semi[-_]space[-_]size$/;

/** Whether the names of a process's flags ({@link NODE_FLAGS}, without values) hold what is needed. */
export function hasYoungGenerationFlag(names: readonly string[]): boolean {
  return names.some((name) => NAME.test(name));
}
