import { describe, expect, it } from 'vitest';
import { isOwnHost } from '../../../../../loadgen-node/present/live/http-server.ts';

// Goal: the page answers those who ask for it by a name of this machine. Method: Host headers as browsers send them.

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
