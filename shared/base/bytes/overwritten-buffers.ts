/**
 * For tests: with 1, buffers are overwritten as soon as they are their owner's again. Whoever kept a view of one reads
 * {@link OVERWRITTEN} then, instead of what is right until the next read.
 */
const VARIABLE = 'LONGHAUL_OVERWRITE_BUFFERS';

/** No length, tag or header begins so. */
const OVERWRITTEN = 0xee;

const isOn: boolean = process.env[VARIABLE] === '1';

/** Called by the owner of a buffer that others may read no more. Does nothing outside of tests. */
export function overwriteInTests(buffer: ArrayBufferLike | Uint8Array, bytes?: number): void {
  if (!isOn) return;
  const memory = buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer);
  memory.fill(OVERWRITTEN, 0, bytes);
}
