import { codecNamed } from '../../../shared/compression/codecs.ts';
import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import { type CompressionPlan, checkCompression } from '../../../shared/rules/check-compression.ts';
import type { RunValues } from './run-settings.ts';
import type { RunTestSettings } from './run-test-settings.ts';

/**
 * What a run compresses, checked against the rules of its round.
 * @param form The benchmark's own encoding, around which the compression goes.
 * @throws MlperfError `ERR_RULE` with the rule's text in the network division, `ERR_CONFIG_INVALID` for what
 *   no division can do, `ERR_NOT_INSTALLED` for a compression that this Node lacks.
 */
export function planCompression(
  values: RunValues,
  { settings, round }: RunTestSettings,
  { form }: PayloadEncoding,
): CompressionPlan {
  const { scenario } = settings;
  const plan: CompressionPlan = {
    benchmark: values.benchmark,
    round,
    scenario,
    encoding: { form, compression: codecNamed(values.compression).name },
    scope: values.compressionScope,
    responseCompressions: values.responseCompression.map((name) => codecNamed(name).name),
    hasLargeQueries:
      scenario === 'Offline' ||
      (scenario === 'MultiStream' && settings.multiStreamSamplesPerQuery > 1) ||
      (scenario === 'Server' && settings.serverCoalesceQueries),
  };
  checkCompression(plan, values.division);
  return plan;
}

/** How responses may come, as the protocol says it. */
export function responseEncodings(plan: CompressionPlan): PayloadEncoding[] {
  return plan.responseCompressions.map((compression) => ({ form: 'raw', compression }));
}

/** Encoding of the samples for people: `raw`, or `raw, compressed by lz4`. */
export function encodingInWords(name: string, { encoding, scope }: CompressionPlan): string {
  if (encoding.compression === 'identity') return name;
  const whole = scope === 'query' ? ', query by query' : '';
  return `${name}, compressed by ${encoding.compression}${whole}`;
}
