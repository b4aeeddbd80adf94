/**
 * The results chair is told of weights above 2 GB "combined": those of all implementations of a
 * division.
 */
import { expect, it } from 'vitest';
import { weightsNotice } from '../../../../../../loadgen-node/submission/assemble/documents/software.ts';
import type { PlannedImplementation } from '../../../../../../loadgen-node/submission/assemble/plan/read-system.ts';

function implementation(id: string, sha256: string, bytes: number): PlannedImplementation {
  return {
    id,
    entry: {} as PlannedImplementation['entry'],
    files: new Map(),
    weights: [{ name: id, file: undefined, source: 'https://example.org/w', sha256, bytes }],
    calibration: '',
  };
}

it('counts the weights of several implementations together', () => {
  const [one, other] = [implementation('a', 'aa', 1.5e9), implementation('b', 'bb', 1.5e9)];
  expect(weightsNotice([one])).toBeUndefined();
  expect(weightsNotice([one, other, one])).toBe(
    'the weights of a, b have 3000000000 bytes, above 2 GB: notify the results chair (submission_rules)',
  );
});

it('counts a file once that two implementations use', () => {
  expect(
    weightsNotice([implementation('a', 'aa', 1.5e9), implementation('b', 'aa', 1.5e9)]),
  ).toBeUndefined();
});
