import { isLoopback } from '../../../shared/security/loopback.ts';

/** Headers of everything that is served. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Whether a request may be answered: one to a loopback address must name it so. A page of the Web whose name was pointed
 * at 127.0.0.1 ("DNS rebinding") sends that name, and is refused.
 * @param listensAt Host that was bound.
 * @param host Header of the request.
 */
export function isOwnHost(listensAt: string, host: string | undefined): boolean {
  if (!isLoopback(listensAt)) return true;
  if (host === undefined) return false;
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host)?.[1];
  return name !== undefined && isLoopback(name);
}
