import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';

/**
 * Refuses a node whose models are all for other benchmarks. One that tells none may still load it: what it does not
 * tell, Ready and Open will.
 * @param description What the node says of itself; undefined where it has no Describe.
 * @throws MlperfError `ERR_SUT_REFUSED`
 */
export function requireBenchmark(
  address: string,
  benchmark: string,
  description: DescribeResponse__Output | undefined,
): void {
  const served = description?.models.map((model) => model.benchmark) ?? [];
  if (served.length === 0 || served.includes(benchmark)) return;
  throw new MlperfError(
    'ERR_SUT_REFUSED',
    `SUT node ${address} does not serve benchmark "${benchmark}"; it serves ${served.join(', ')}`,
  );
}
