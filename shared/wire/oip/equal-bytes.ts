import type { BorrowedBytes } from '../../base/bytes/borrowed-bytes.ts';

/** Whether two short texts are the same, as bytes. */
export function isEqual(a: BorrowedBytes, b: BorrowedBytes): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
