import { describe, expect, it } from 'vitest';
import {
  agreedVersion,
  toldSoftware,
  toldVersions,
  versionsInWords,
} from '../../../../shared/wire/protocol-versions.ts';

// Goal: two ends use the newest version that both speak, or none. Method: ranges.

describe('agreedVersion', () => {
  it.each([
    [[1, 1], [1, 1], 1],
    [[1, 3], [1, 2], 2],
    [[1, 2], [2, 5], 2],
    [[1, 1], [2, 2], undefined],
    [[3, 4], [1, 2], undefined],
  ] as const)('of %j and %j', ([aMin, aMax], [bMin, bMax], version) => {
    const [a, b] = [
      { min: aMin, max: aMax },
      { min: bMin, max: bMax },
    ];
    expect([agreedVersion(a, b), agreedVersion(b, a)]).toEqual([version, version]);
  });

  it('takes an end that reports no versions for one of the first', () => {
    expect(toldVersions({ protocolVersionMin: 0, protocolVersionMax: 0 })).toEqual({
      min: 1,
      max: 1,
    });
    expect(toldVersions({ protocolVersionMin: 2, protocolVersionMax: 3 })).toEqual({
      min: 2,
      max: 3,
    });
  });
});

describe('ends in words', () => {
  it('tell one version, a range, and software where it is told', () => {
    expect(versionsInWords({ min: 1, max: 1 })).toBe('version 1');
    expect(versionsInWords({ min: 1, max: 2 })).toBe('versions 1 to 2');
    expect(toldSoftware({ software: '', softwareVersion: '' })).toBe('software not reported');
    expect(toldSoftware({ software: 'other', softwareVersion: '' })).toBe('other');
  });
});
