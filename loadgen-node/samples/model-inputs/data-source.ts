import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';

/** Source of samples, as given by `--data`. */
export type DataSource =
  | { readonly kind: 'random' }
  | { readonly kind: 'zeros' }
  | { readonly kind: 'npy'; readonly folder: string }
  | { readonly kind: 'jsonl'; readonly file: string };

/** Forms of `--data`, for people. */
export const DATA_SOURCE_FORM = 'random|zeros|npy:DIR|jsonl:FILE';

/** @throws MlperfError `ERR_CONFIG_INVALID` listing the valid forms. */
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
  /** Seed of random data; undefined: the default seed. */
  readonly dataSeed?: number | undefined;
  /** Number of samples of random data and zeros; undefined: 256. */
  readonly dataCount?: number | undefined;
}
