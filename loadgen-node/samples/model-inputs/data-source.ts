import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';

/** Where samples come from, as `--data` says it. */
export type DataSource =
  | { readonly kind: 'random' }
  | { readonly kind: 'zeros' }
  | { readonly kind: 'npy'; readonly folder: string }
  | { readonly kind: 'jsonl'; readonly file: string };

/** Forms of `--data`, for people. */
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

/** Samples of `--data`. */
export interface DataAsked {
  readonly source: DataSource;
  /** Of random data; undefined: always the same. */
  readonly dataSeed?: number | undefined;
  /** Of random data and zeros; undefined: 256. */
  readonly dataCount?: number | undefined;
}
