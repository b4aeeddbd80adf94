import { describe, expect, it } from 'vitest';
import { hostAndPort } from '../../../../../shared/base/text.ts';

describe('hostAndPort', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1:80'],
    ['sut-a', 'sut-a:80'],
    ['::1', '[::1]:80'],
  ])('writes %s so that the port can be told apart', (host, text) => {
    expect(hostAndPort(host, 80)).toBe(text);
  });
});
