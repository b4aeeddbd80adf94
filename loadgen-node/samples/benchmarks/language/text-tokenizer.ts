import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { dataSetError, messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { readJson } from '../../data-set/read-json.ts';

/** The model's tokenizer, in Hugging Face's format. */
export const TOKENIZER_FILE = 'tokenizer.json';

/** The tokenizer's settings, of which one is read. */
export const TOKENIZER_CONFIG_FILE = 'tokenizer_config.json';

/** Texts to token ids and back. */
export interface TextTokenizer {
  encode(text: string): number[];
  /** Text without special tokens. */
  decode(ids: readonly number[]): string;
  /** True if a token has this id. */
  hasToken(id: number): boolean;
}

/**
 * Reads tokenizer.json, and `clean_up_tokenization_spaces` of tokenizer_config.json.
 * @param hasConfig False if the folder has no tokenizer_config.json.
 * @param cleansUp Default for removing blanks before punctuation when decoding: that of
 *   transformers 4 for this tokenizer.
 * @throws MlperfError `ERR_DATA_SET` with the missing or wrong file.
 */
export async function readTokenizer(
  folder: string,
  hasConfig: boolean,
  cleansUp: boolean,
): Promise<TextTokenizer> {
  const path = join(folder, TOKENIZER_FILE);
  const json = await readJson(path);
  const config = hasConfig ? await readJson(join(folder, TOKENIZER_CONFIG_FILE)) : {};
  const said = (config as Record<string, unknown> | null)?.['clean_up_tokenization_spaces'];
  const options = {
    skip_special_tokens: true,
    clean_up_tokenization_spaces: typeof said === 'boolean' ? said : cleansUp,
  };
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(json as object, config as object);
  } catch (error) {
    throw dataSetError(`${path} is not a readable tokenizer: ${messageOf(error)}`, error);
  }
  return {
    encode: (text) => tokenizer.encode(text).ids,
    // The library rejects an empty list.
    decode: (ids) => (ids.length === 0 ? '' : tokenizer.decode([...ids], options)),
    hasToken: (id) => tokenizer.id_to_token(id) !== undefined,
  };
}
