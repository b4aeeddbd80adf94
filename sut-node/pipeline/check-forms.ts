import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';

/**
 * Checks that a model's pre-processor reads some form in which the benchmark's samples travel.
 * @param forms Forms that it reads.
 * @throws MlperfError `ERR_MODEL` that tells both.
 */
export function checkForms(forms: readonly string[], encodings: readonly PayloadEncoding[]): void {
  if (encodings.some(({ form }) => forms.includes(form))) return;
  const known = [...new Set(encodings.map(({ form }) => form))];
  throw new MlperfError(
    'ERR_MODEL',
    `the model's pre-processor reads ${forms.join(', ')}, but samples of this benchmark travel as ` +
      `${known.join(', ')}: another "preprocess" in its description`,
  );
}
