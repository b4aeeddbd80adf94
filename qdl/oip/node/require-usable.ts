import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type { OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';

/**
 * Refuses a plan that the model cannot answer.
 * @throws MlperfError `ERR_SUT_REFUSED`
 */
export function requireUsable(plan: OipRequestPlan, facts: OipModelFacts): void {
  const { name, isDecoupled, hasStream, batchSizeMax } = facts;
  if (plan.method === 'unary' && isDecoupled === true) {
    throw refusal(
      `model "${name}" is decoupled: a request may have any number of responses, which only a stream carries; ` +
        'use --oip-method stream',
    );
  }
  if (plan.method !== 'unary' && hasStream === false) {
    throw refusal(`the server at ${facts.address} has no ModelStreamInfer; use --oip-method unary`);
  }
  if (isDecoupled === true && plan.samplesPerRequest > 1) {
    throw refusal(
      `model "${name}" is decoupled: its responses do not tell which of ${plan.samplesPerRequest} samples they are for; ` +
        'use --oip-batch 1',
    );
  }
  if (batchSizeMax !== undefined && plan.samplesPerRequest > Math.max(1, batchSizeMax)) {
    throw refusal(
      `model "${name}" takes ${Math.max(1, batchSizeMax)} samples in a request, ` +
        `--oip-batch asks for ${plan.samplesPerRequest}`,
    );
  }
}

function refusal(what: string): MlperfError {
  return new MlperfError('ERR_SUT_REFUSED', what);
}
