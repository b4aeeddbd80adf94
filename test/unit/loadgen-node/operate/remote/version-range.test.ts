import { describe, expect, it } from 'vitest';
import { isVersionInRange } from '../../../../../loadgen-node/operate/remote/packages/version-range.ts';

// Rule: node-semver, "Caret Ranges" and "Tilde Ranges".
describe('a version that a package asks for', () => {
  it.each([
    ['1.14.7', '1.14.7', true],
    ['1.14.8', '1.14.7', false],
    ['1.14.7', '^1.14.7', true],
    ['1.15.0', '^1.14.7', true],
    ['1.14.6', '^1.14.7', false],
    ['1.9.0', '^1.14.7', false],
    ['2.0.0', '^1.14.7', false],
    ['0.8.2', '^0.8.1', true],
    ['0.9.0', '^0.8.1', false],
    ['0.0.3', '^0.0.3', true],
    ['0.0.4', '^0.0.3', false],
    ['1.2.9', '~1.2.3', true],
    ['1.3.0', '~1.2.3', false],
    ['0.0.4', '~0.0.3', true],
    ['1.15.0-rc.1', '^1.14.7', false],
    ['1.15.0-rc.1', '1.15.0-rc.1', true],
    ['1.0.0', '>=1', false],
  ])('%s is one of %s: %s', (version, range, is) => {
    expect(isVersionInRange(version, range)).toBe(is);
  });
});
