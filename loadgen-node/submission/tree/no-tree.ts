import { basename, resolve } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { SUBMISSION_DIVISIONS } from '../rules/submission-rounds.ts';

/** Says of a folder that it is no submission tree; who named a division is told so. */
export function noTree(folder: string): MlperfError {
  const isDivision = SUBMISSION_DIVISIONS.some((name) => name === basename(resolve(folder)));
  const hint = isDivision ? ' (you named a division: name its parent)' : '';
  const wanted = SUBMISSION_DIVISIONS.join('/, ');
  return new MlperfError(
    'ERR_CONFIG_FILE',
    `${folder} is no submission tree: it has no ${wanted}/${hint}`,
  );
}
