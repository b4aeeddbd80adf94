import { createHash } from 'node:crypto';
import { isLoopback } from '../../../shared/security/loopback.ts';

/**
 * Headers of the page: nothing but its own script and style, by their hashes, and connections to where it came from.
 * @param html The page with all that it needs inside.
 */
export function pageHeaders(html: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { ...COMMON_HEADERS, 'content-security-policy': policy.join('; ') };
}

/** Headers of everything that is served. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** `'sha256-...'` of every inline element of a kind (CSP level 3, section 6.7.3); `'none'` where there is none. */
function hashesOf(html: string, element: 'script' | 'style'): string {
  const pattern = new RegExp(`<${element}\\b[^>]*>([\\s\\S]*?)</${element}>`, 'g');
  const hashes = [...html.matchAll(pattern)].map(([, content]) => {
    const digest = createHash('sha256')
      .update(content ?? '')
      .digest('base64');
    return `'sha256-${digest}'`;
  });
  return hashes.length === 0 ? "'none'" : hashes.join(' ');
}

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
