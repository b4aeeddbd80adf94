/**
 * Flags of every Node.js process of longhaul: the program's first line, the systemd units and the
 * processes that it starts itself. V8 begins with a young generation of 1 MiB and grows it only if
 * much survives. While it is small, V8 moves read buffers of outstanding samples to the old
 * generation. Some processes then collect the whole heap again and again for their whole life: at
 * 150 kB and 1,000 samples/s every 160 ms, with a p99 of 18 to 27 ms instead of 3 to 5. 16 MiB is
 * the size that V8 would grow to. It suffices on Node.js 20 and 22; 24 and 26 count memory outside
 * the heap differently (deploy/tuning.md).
 */
export const NODE_FLAGS: readonly string[] = ['--min-semi-space-size=16'];

const NAME = /^--min[-_]semi[-_]space[-_]size$/;

/** True if the flag of {@link NODE_FLAGS} is among `names`: flags of a process, without values. */
export function hasYoungGenerationFlag(names: readonly string[]): boolean {
  return names.some((name) => NAME.test(name));
}
