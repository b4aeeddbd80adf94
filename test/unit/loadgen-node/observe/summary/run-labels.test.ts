import { describe, expect, it } from 'vitest';
import { labelSetting, labelText } from '../../../../../loadgen-node/observe/summary/run-labels.ts';

// Goal: labels are kept as they were given, and what is no label is refused with what would be
// right. Method: the setting alone, from flags and from a file.

const setting = labelSetting('');
const ofFlag = (text: string) => setting.schema.safeParse(setting.fromFlag(text));
const messageOf = (given: unknown): string =>
  setting.schema.safeParse(given).error?.issues[0]?.message ?? '';

describe('labels', () => {
  it('take flags that are joined by commas, and values with commas of their own', () => {
    expect(ofFlag('commit=4f2a9c1,note=a, b=c').data).toEqual({
      ...{ commit: '4f2a9c1', note: 'a', b: 'c' },
    });
    expect(ofFlag('note=warm, quiet').data).toEqual({ note: 'warm, quiet' });
    expect(ofFlag('url=a=b').data).toEqual({ url: 'a=b' });
  });

  it('stand in a file as a list or as keys', () => {
    expect(setting.schema.parse(['a=1', 'b=x y'])).toEqual({ a: '1', b: 'x y' });
    expect(setting.schema.parse({ a: 1, b: true })).toEqual({ a: '1', b: 'true' });
    expect(setting.schema.parse(undefined)).toBeUndefined();
  });

  it.each([
    [['commit'], /must be key=value, for example commit=4f2a9c1.*; "commit" is not that/],
    [['=x'], /must be key=value/],
    [['1a=x'], /must be key=value/],
    [['a='], /must be key=value/],
    [['a=\u0007'], /must be key=value/],
    [['a=1', 'a=2'], /must not have the key a twice/],
    [Array.from({ length: 33 }, (_, i) => `a${i}=1`), /32 labels at most/],
    [7, /must be a list such as/],
  ])('refuse %j', (given, message) => {
    expect(messageOf(given)).toMatch(message);
  });

  it('are one text for people', () => {
    expect(labelText({ commit: '4f2a9c1', note: 'a b' })).toBe('commit=4f2a9c1 note="a b"');
    expect(labelText(undefined)).toBe('');
  });
});
