import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { dataSetError, messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { readJson } from '../../data-set/read-json.ts';

/** The model's tokenizer, in the form of Hugging Face's library. */
export const TOKENIZER_FILE = 'tokenizer.json';

/** Its settings; one of them is read. */
export const TOKENIZER_CONFIG_FILE = 'tokenizer_config.json';

/** Texts to token ids and back. */
export interface TextTokenizer {
  encode(text: string): number[];
  /** Without special tokens. */
  decode(ids: readonly number[]): string;
  /** True where there is a token of this id. */
  hasToken(id: number): boolean;
}

/**
 * Reads tokenizer.json, and `clean_up_tokenization_spaces` of tokenizer_config.json.
 * @param hasConfig False where the folder has no tokenizer_config.json.
 * @param cleansUp Whether decoding takes blanks in front of marks away, where the settings do not say it: as
 *   transformers 4 has it for the model's tokenizer.
 * @throws MlperfError `ERR_DATA_SET` naming the file that is missing or wrong.
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
    throw dataSetError(`${path} is no tokenizer that can be read: ${messageOf(error)}`, error);
  }
  return {
    encode: (text) => tokenizer.encode(text).ids,
    // The library refuses a list of none.
    decode: (ids) => (ids.length === 0 ? '' : tokenizer.decode([...ids], options)),
    hasToken: (id) => tokenizer.id_to_token(id) !== undefined,
  };
}
