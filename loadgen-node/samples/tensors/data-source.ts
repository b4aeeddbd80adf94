import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';

/** Where samples come from, as `--data` says it. */
export type DataSource =
  | { readonly kind: 'random' }
  | { readonly kind: 'zeros' }
  | { readonly kind: 'npy'; readonly folder: string }
  | { readonly kind: 'jsonl'; readonly file: string };

/** What `--data` may be, for people. */
export const DATA_SOURCE_FORM = 'random|zeros|npy:DIR|jsonl:FILE';

/** @throws MlperfError `ERR_CONFIG_INVALID` that says what there is. */
export function parseDataSource(text: string): DataSource {
  if (text === 'random' || text === 'zeros') return { kind: text };
  const [, kind, path] = /^(npy|jsonl):(.+)$/s.exec(text) ?? [];
  if (path !== undefined) {
    return kind === 'npy' ? { kind, folder: path } : { kind: 'jsonl', file: path };
  }
  throw configInvalid(`--data ${text}: must be ${DATA_SOURCE_FORM}`);
}
