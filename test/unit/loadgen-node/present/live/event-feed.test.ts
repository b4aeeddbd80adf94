import { describe, expect, it } from 'vitest';
import { eventText } from '../../../../../loadgen-node/present/live/page-server.ts';

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
