import { expect, it } from 'vitest';
import { growth, sumOfVersions } from '../../../../../../qdl/protocols/oip/oip-driver.ts';

// Goal: what a server counted before the run is not reported as the run's.

function told(inferenceCount: number, queueNs: number) {
  const duration = { count: inferenceCount, ns: queueNs };
  const none = null;
  return {
    name: 'm',
    version: '1',
    lastInference: 0,
    inferenceCount,
    executionCount: inferenceCount / 2,
    inferenceStats: {
      success: duration,
      fail: none,
      queue: duration,
      computeInput: none,
      computeInfer: none,
      computeOutput: none,
    },
  };
}

it('adds up the versions of a model, and takes the difference', () => {
  const before = sumOfVersions([told(10, 100), told(2, 50)]);
  expect(before).toMatchObject({ inferenceCount: 12, queue: { count: 12, ns: 150 } });
  const grown = growth(before, sumOfVersions([told(20, 300), told(2, 50)]));
  const none = { count: 0, ns: 0 };
  const ten = { count: 10, ns: 200 };
  expect(grown).toEqual({
    inferenceCount: 10,
    executionCount: 5,
    success: ten,
    fail: none,
    queue: ten,
    computeInput: none,
    computeInfer: none,
    computeOutput: none,
  });
});

it('tells nothing of a server that began anew', () => {
  expect(growth(sumOfVersions([told(10, 1)]), sumOfVersions([told(4, 1)]))).toBeNull();
});
