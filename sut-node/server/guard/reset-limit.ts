import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';

/** Resets that a connection may have at once, and again each second: nghttp2's own, which counts the peer's alone. */
const RESETS_MAX = 1_000;
const RESETS_PER_SECOND = 33;

/** What a connection may still spend. */
interface ResetBudget {
  left: number;
  countedAtMs: number;
}

const budgets = new WeakMap<Http2Session, ResetBudget>();

/**
 * Counts the call if it ends by a reset, whoever made it, and closes a connection that has too many. nghttp2 counts
 * the resets that the peer sends. A peer that makes this end reset (WINDOW_UPDATE of 0 on an open call: CVE-2025-8671)
 * is outside of that, and costs as much.
 * @returns False where the connection has too many already and is about to be closed: what still comes is not served.
 */
export function countResets(stream: ServerHttp2Stream): boolean {
  const { session } = stream;
  if (session === undefined) return true;
  if ((budgets.get(session)?.left ?? 0) < 0) return false;
  stream.once('close', () => {
    if (stream.rstCode === constants.NGHTTP2_NO_ERROR || session.destroyed) return;
    if (spend(session)) return;
    // nghttp2 may be amid the bytes that made this call end: a session that is destroyed now ends the process.
    const why = new Error('too many calls of the connection ended by a reset');
    setImmediate(() => session.destroy(why, constants.NGHTTP2_ENHANCE_YOUR_CALM));
  });
  return true;
}

/** Takes one reset from the budget of a connection; false where nothing is left. */
function spend(session: Http2Session): boolean {
  const nowMs = performance.now();
  const budget = budgets.get(session) ?? { left: RESETS_MAX, countedAtMs: nowMs };
  budgets.set(session, budget);
  const regained = ((nowMs - budget.countedAtMs) / 1000) * RESETS_PER_SECOND;
  budget.left = Math.min(RESETS_MAX, budget.left + regained) - 1;
  budget.countedAtMs = nowMs;
  return budget.left >= 0;
}
