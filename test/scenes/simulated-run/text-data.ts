import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of a language model's golden, and the names that the benchmark wants. */
const FILES: Readonly<Record<string, readonly [golden: string, own: string]>> = {
  gptj: ['cnn_eval.json', 'cnn_eval.json'],
  'llama2-70b': ['processed-data.json', 'processed-data.json'],
  'mixtral-8x7b': ['dataset.json', '2024.06.06_mixtral_15k_v4.json'],
};

/** A language model's golden as a data folder. */
export function writeTextData(folder: string, key: string) {
  const golden = `test/golden/benchmarks/text/${key}`;
  const [from, to] = FILES[key] as readonly [string, string];
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(golden, from), join(folder, to));
  copyFileSync(join(golden, 'tokenizer/tokenizer.json'), join(folder, 'tokenizer.json'));
  // The script that made the goldens ran with transformers 5, which leaves blanks alone whatever
  // the settings say.
  const config = join(folder, 'tokenizer_config.json');
  writeFileSync(config, JSON.stringify({ clean_up_tokenization_spaces: false }));
  const stdout = readFileSync(join(golden, 'expected-stdout.v4.1.txt'), 'utf8');
  return {
    folder,
    file: join(folder, to),
    log: join(golden, 'mlperf_log_accuracy.json'),
    /** The official script's line. */
    line: /^\{.*\}$/m.exec(stdout)?.[0] ?? '',
    decoded: JSON.parse(readFileSync(join(golden, 'decoded.json'), 'utf8')) as {
      qsl_idx: number;
      text: string;
    }[],
  };
}
