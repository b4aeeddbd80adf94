import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isOwnHost, pageHeaders } from '../../../../../loadgen-node/present/live/page-policy.ts';

// Goal: the page runs its own code and nothing else, for those who ask for it by a name of this machine.
// Method: headers of small pages; Host headers as browsers send them.

const sha256 = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('pageHeaders', () => {
  it('allows the scripts and styles of the page by their hashes, and no others', () => {
    const html =
      '<style rel="x">a{}</style><script type="module">let a;\n</script><script>b</script>';
    const policy = pageHeaders(html)['content-security-policy'] ?? '';
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${sha256('let a;\n')} ${sha256('b')}`,
      `style-src ${sha256('a{}')}`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(policy).not.toContain('unsafe');
  });

  it('allows none where there is none', () => {
    expect(pageHeaders('<p>')['content-security-policy']).toContain("script-src 'none'");
    expect(pageHeaders('<p>')['x-content-type-options']).toBe('nosniff');
  });
});

describe('isOwnHost', () => {
  it.each([
    ['127.0.0.1', 'localhost:8080', true],
    ['127.0.0.1', '127.0.0.1:8080', true],
    ['localhost', '127.0.0.1', true],
    ['::1', '[::1]:8080', true],
    ['127.0.0.1', 'evil.example:8080', false],
    ['127.0.0.1', 'localhost.evil.example', false],
    ['127.0.0.1', '10.0.0.1:8080', false],
    ['127.0.0.1', 'localhost:8080:1', false],
    ['127.0.0.1', '', false],
    ['127.0.0.1', undefined, false],
    ['0.0.0.0', 'any.example:8080', true],
  ])('at %s, a request to %s: %s', (listensAt, host, isOwn) => {
    expect(isOwnHost(listensAt, host)).toBe(isOwn);
  });
});
