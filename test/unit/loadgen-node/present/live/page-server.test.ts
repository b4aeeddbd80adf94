import { describe, expect, it } from 'vitest';
import { eventText, isOwnHost } from '../../../../../loadgen-node/present/live/page-server.ts';

// Goal: the page answers those who ask for it by a name of this machine. Method: Host headers as
// browsers send them.

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

// Goal: events are what a browser reads as events, whatever is in them. Method: their text.

describe('eventText', () => {
  it('is one line of JSON whatever the texts in it hold', () => {
    const text = eventText('change', { name: 'a\n\nevent: end\r\u2028"' });
    const [event, content, ...rest] = text.split('\n');
    expect(event).toBe('event: change');
    expect(JSON.parse((content as string).slice('data: '.length))).toEqual({
      name: 'a\n\nevent: end\r\u2028"',
    });
    expect(rest).toEqual(['', '']);
  });

  it('shortens numbers to what can be seen, and has none for what is no number', () => {
    const text = eventText('x', [
      1 / 3,
      123_456_789,
      1e-9 / 3,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ]);
    expect(text).toContain('[0.333333,123456789,3.33333e-10,null,null]');
  });
});
