import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readAccuracyLog } from '../../../../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import { loadgenBenchmark } from '../../../../../../loadgen-node/samples/benchmarks/registry.ts';
import {
  isMet,
  qualityOfRun,
} from '../../../../../../loadgen-node/samples/benchmarks/score-each.ts';
import type {
  AccuracyEntry,
  DataSet,
} from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import type { TokenType } from '../../../../../../loadgen-node/samples/data-set/token-numbers.ts';
import {
  longStandinTextsOf,
  STANDIN_NUMBERS,
  type StandinTexts,
  standinText,
  standinTextsOf,
} from '../../../../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules } from '../../../../../../shared/rules/benchmark-rules.ts';
import { PROGRAM_PROMPT_HEAD } from '../../../../../../shared/rules/cards/mixtral-8x7b.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';
import { writeTextData } from '../../../../../scenes/simulated-run/text-data.ts';

// Goal: samples are the reference's token ids; scores are the official script's lines, digit for
// digit; a wrong file or response is one clear error. Method: goldens that MLCommons' scripts made,
// and broken files; random logs are in language-random.slow.test.ts.

const KEYS = ['gptj', 'llama2-70b', 'mixtral-8x7b'] as const;
const suite = suiteFolder();

async function openData(key: string, folder: string, tokenType?: TokenType): Promise<DataSet> {
  const { openDataSet } = await loadgenBenchmark(key);
  return openDataSet({
    ...{ dataFolder: folder, cacheFolder: '', tokenType },
    onProgress: () => undefined,
  });
}

/**
 * Responses of a model that goes on as the prompts say: their answers, programs cut as the node
 * cuts them.
 */
async function perfectLog(
  key: string,
  { totalSampleCount }: DataSet,
  {
    texts = standinTextsOf(key),
    seed,
  }: { texts?: StandinTexts | undefined; seed?: number | undefined } = {},
) {
  return Array.from({ length: totalSampleCount }, (_, sampleIndex): AccuracyEntry => {
    const { prompt, kind } = standinText(texts, seed ?? texts.set.seed, sampleIndex);
    const begin = prompt.indexOf(texts.askId) + 1;
    const end = prompt.indexOf(texts.endId, begin);
    const answer = prompt.subarray(begin, kind === 'code' ? end - 2 : end);
    return { sampleIndex, response: bytes(Int32Array.of(...answer, texts.endId)) };
  });
}

async function readLog(path: string): Promise<AccuracyEntry[]> {
  const entries: AccuracyEntry[] = [];
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    entries.push({ sampleIndex, response });
  }
  return entries;
}

function int32(response: Uint8Array): Int32Array {
  return new Int32Array(Uint8Array.from(response).buffer);
}

function bytes(values: Int32Array | BigInt64Array | Float32Array): Uint8Array {
  return new Uint8Array(values.buffer);
}

describe.each(KEYS)('%s', (key) => {
  const data = writeTextData(join(suite, key), key);
  let dataSet: DataSet;
  let log: AccuracyEntry[];
  beforeAll(async () => {
    dataSet = await openData(key, data.folder);
    log = await readLog(data.log);
  });

  it('prints the line of the official script', async () => {
    const report = await dataSet.scoreAccuracy(log);
    expect(report.scriptLine).toBe(data.line);
    expect(report.metric).toBe('ROUGE1');
    expect(report.sampleCount).toBe(dataSet.totalSampleCount);
    const line = JSON.parse(data.line.replaceAll("'", '"')) as Record<string, number>;
    expect(report.value * 100).toBeCloseTo(line['rouge1'] as number, 10);
    expect(report.more?.['ROUGE2']).toBe(line['rouge2']);
  });

  it('prints the same of tokens of int64 and float32', async () => {
    const wide = log.map(({ sampleIndex, response }) => ({
      sampleIndex,
      response: bytes(BigInt64Array.from(int32(response), BigInt)),
    }));
    const ofInt64 = await openData(key, data.folder, 'int64');
    expect((await ofInt64.scoreAccuracy(wide)).scriptLine).toBe(data.line);
    const floats = log.map(({ sampleIndex, response }) => ({
      sampleIndex,
      response: bytes(Float32Array.from(int32(response))),
    }));
    const ofFloat = await openData(key, data.folder, 'float32');
    expect((await ofFloat.scoreAccuracy(floats)).scriptLine).toBe(data.line);
    await expect(dataSet.scoreAccuracy(wide)).rejects.toThrow(/read as int32; --token-type/);
    await expect(ofInt64.scoreAccuracy(log)).rejects.toThrow(/read as int64; --token-type/);
  });

  it('reads samples as the reference has them', async () => {
    const rows = JSON.parse(readFileSync(data.file, 'utf8')) as { tok_input?: number[] }[];
    for (const [i, row] of rows.entries()) {
      const payload = await dataSet.readPayload(i, 'ids');
      const ids = [...int32(payload)];
      if (row.tok_input === undefined) expect(ids.length).toBeGreaterThan(30);
      else expect(ids).toEqual(row.tok_input);
      expect(payload.length).toBe(4 * ids.length);
    }
  });

  it.each([
    [[0, 5, 9, 0x7fff_ffff], /sample 0: the tokenizer has no token 2147483647; read as int32/],
    [[-1], /sample 0: the tokenizer has no token -1/],
    [Array(8).fill([5, 0]).flat() as number[], /sample 0: every second token is 0; read as int32/],
    [Array(16_385).fill(5) as number[], /16385 tokens, 16384 at most/],
  ])('refuses the response %j', async (ids, message) => {
    const response = bytes(Int32Array.from(ids));
    await expect(dataSet.scoreAccuracy([{ sampleIndex: 0, response }])).rejects.toThrow(message);
  });

  it('refuses a response that is cut, and one for no sample', async () => {
    const response = new Uint8Array(7);
    await expect(dataSet.scoreAccuracy([{ sampleIndex: 0, response }])).rejects.toThrow(
      /sample 0: 7 bytes are no whole number of tokens/,
    );
    await expect(dataSet.scoreAccuracy([{ sampleIndex: 999, response }])).rejects.toThrow(
      /a response for sample 999/,
    );
  });

  it('scores a response without tokens as an empty text, and no response as no score', async () => {
    const empty = { sampleIndex: 0, response: new Uint8Array(0) };
    expect(await dataSet.scoreAccuracy([empty])).toMatchObject({ value: 0, sampleCount: 1 });
    const none = await dataSet.scoreAccuracy([]);
    expect(none).toMatchObject({ value: 0, sampleCount: 0 });
    expect(none.scriptLine).toBeUndefined();
  });

  it('says what a folder lacks', async () => {
    const folder = tempFolder();
    await expect(openData(key, folder)).rejects.toThrow(
      / lacks .*\.json and tokenizer\.json \(see the README of the benchmark\)/,
    );
  });

  it.each([
    ['{', /is not JSON/],
    ['{"a": 1}', /is not a list of rows/],
    ['[]', /is not a list of rows/],
    ['[3]', /row 0: it is not an object/],
    ['[{}]', /row 0: "\w+" must be a (text|list of 1 to \d+ token ids); there is none/],
  ])('refuses a file of %s', async (text, message) => {
    const broken = writeTextData(tempFolder(), key);
    writeFileSync(broken.file, text);
    await expect(openData(key, broken.folder)).rejects.toThrow(message);
    await expect(openData(key, broken.folder)).rejects.toThrow(broken.file);
  });

  it('refuses a file that is no tokenizer', async () => {
    const broken = writeTextData(tempFolder(), key);
    writeFileSync(join(broken.folder, 'tokenizer.json'), '{"model": 3}');
    await expect(openData(key, broken.folder)).rejects.toThrow(
      /tokenizer\.json is not a readable tokenizer/,
    );
  });
});

describe('texts of its own in place of the data', () => {
  it.each([
    ['gptj', 'standin', standinTextsOf('gptj')],
    ['llama2-70b', 'standin', standinTextsOf('llama2-70b')],
    ['llama2-70b', 'standin-long', longStandinTextsOf('llama2-70b')],
    ['mixtral-8x7b', 'standin', standinTextsOf('mixtral-8x7b')],
    ['mixtral-8x7b', 'standin-long', longStandinTextsOf('mixtral-8x7b')],
  ])('of %s, %s, have the quality that the target stands on', async (key, folder, texts) => {
    const dataSet = await openData(key, folder);
    const count = texts?.set.sampleCount;
    expect(dataSet.marks).toEqual([
      expect.stringContaining(`the data set is a stand-in: ${count} texts`),
    ]);
    const { value } = await dataSet.scoreAccuracy(await perfectLog(key, dataSet, { texts }));
    expect(value).toBeCloseTo(texts?.rouge1 as number, 9);
  });

  it('of gptj have no long answers: no rule counts their tokens', async () => {
    await expect(openData('gptj', 'standin-long')).rejects.toThrow(
      /standin-long: there is no such folder/,
    );
  });

  it.each([
    ['llama2-70b', 'v4.1', undefined],
    ['llama2-70b', 'v6.0', { seed: 4, sampleCount: 24 }],
    ['mixtral-8x7b', 'v4.1', undefined],
    ['mixtral-8x7b', 'v5.0', { seed: 4, sampleCount: 24 }],
    ['mixtral-8x7b', 'v5.0', { seed: 9, sampleCount: 60 }],
  ] as const)('of %s with long answers meet all targets of %s', async (key, round, generated) => {
    const { openDataSet } = await loadgenBenchmark(key);
    const dataSet = await openDataSet({
      ...{ dataFolder: 'standin-long', cacheFolder: '', generated },
      onProgress: () => undefined,
    });
    const log = await perfectLog(key, dataSet, {
      ...{ texts: longStandinTextsOf(key), seed: generated?.seed },
    });
    const report = await dataSet.scoreAccuracy(log);
    const official = qualityOfRun(benchmarkRules(key), round, {} as DataSet);
    expect(isMet(report, official), report.scriptLine).toBe(true);
  });

  it('of mixtral-8x7b have sums and programs that are wrong', async () => {
    const dataSet = await openData('mixtral-8x7b', 'standin');
    const log = await perfectLog('mixtral-8x7b', dataSet);
    const { scriptLine } = await dataSet.scoreAccuracy(log);
    expect(scriptLine).toContain("'gsm8k': 87.5, 'mbxp': 87.5,");
    const begun = log.map(({ sampleIndex, response }) => ({
      sampleIndex,
      // Numbers come at the end, and in three places.
      response: response.subarray(0, 4),
    }));
    const cut = await dataSet.scoreAccuracy(begun);
    expect(cut.scriptLine).toContain("'gsm8k': 0.0, 'mbxp': 0.0,");
  });

  it('of mixtral-8x7b are scored up to the marks behind a program', async () => {
    const dataSet = await openData('mixtral-8x7b', 'standin');
    const [, , program] = await perfectLog('mixtral-8x7b', dataSet);
    const { sampleIndex, response } = program as AccuracyEntry;
    const ids = [...int32(response)];
    const percentOf = async (answer: readonly number[]): Promise<string | undefined> => {
      const entry = { sampleIndex, response: bytes(Int32Array.from(answer)) };
      return /'mbxp': ([\d.]+),/.exec((await dataSet.scoreAccuracy([entry])).scriptLine ?? '')?.[1];
    };
    const number = STANDIN_NUMBERS.first + 5;
    expect(ids.slice(-5)).toEqual([13, 13_940, 28_832, 13, 2]);
    expect(await percentOf(ids)).toBe('100.0');
    expect(await percentOf([...ids.slice(0, -1), number, 2])).toBe('100.0');
    expect(await percentOf([number, ...ids])).toBe('0.0');
  });
});

describe('rows', () => {
  it.each([
    [
      'llama2-70b',
      'tok_input',
      [],
      /row 1: "tok_input" must be a list of 1 to 1024 token ids; it has 0/,
    ],
    ['llama2-70b', 'tok_input', Array(1025).fill(1), /1 to 1024 token ids; it has 1025/],
    ['llama2-70b', 'tok_input', [1, 2.5], /row 1: "tok_input"\[1\] must be a token id; it is 2.5/],
    ['llama2-70b', 'tok_input', [-4], /"tok_input"\[0\] must be a token id; it is -4/],
    ['llama2-70b', 'output', 7, /row 1: "output" must be a text; it is 7/],
    ['mixtral-8x7b', 'dataset', 'C4', /row 1: "dataset" must be OpenOrca, GSM8K, MBXP; it is "C4"/],
    ['mixtral-8x7b', 'gt_output', null, /row 1: "gt_output" must be a text; it is null/],
    ['gptj', 'input', 1, /row 1: "input" must be a text; it is 1/],
  ])('of %s with %s = %j are refused', async (key, column, value, message) => {
    const data = writeTextData(tempFolder(), key);
    const rows = JSON.parse(readFileSync(data.file, 'utf8')) as Record<string, unknown>[];
    rows[1] = { ...rows[1], [column]: value };
    writeFileSync(data.file, JSON.stringify(rows));
    await expect(openData(key, data.folder)).rejects.toThrow(message);
  });
});

describe('gptj', () => {
  it('makes the prompt of the reference, and cuts it', async () => {
    const data = writeTextData(tempFolder(), 'gptj');
    const words = Array(3000).fill('benchmark').join(' ');
    const row = { instruction: 'Do.', input: words, output: 'x' };
    writeFileSync(data.file, JSON.stringify([row, { ...row, input: 'This.' }]));
    const dataSet = await openData('gptj', data.folder);
    expect((await dataSet.readPayload(0, 'ids')).length).toBe(4 * 1919);
    const response = await dataSet.readPayload(1, 'ids');
    const { scriptLine } = await dataSet.scoreAccuracy([{ sampleIndex: 1, response }]);
    const prompt =
      'Below is an instruction that describes a task, paired with an input that provides further context. ' +
      'Write a response that appropriately completes the request.\n\n### Instruction:\nDo.\n\n### Input:\nThis.\n\n### Response:';
    // Blank lines become one line break behind the two sentences' ends that are followed by them.
    expect(scriptLine).toContain(`'gen_len': ${prompt.length - 3}`);
  });

  it('takes blanks before marks away where the settings do not say it', async () => {
    const data = writeTextData(tempFolder(), 'gptj');
    const entries = await readLog(data.log);
    const line = async (): Promise<string> =>
      (await (await openData('gptj', data.folder)).scoreAccuracy(entries)).scriptLine ?? '';
    const kept = await line();
    writeFileSync(join(data.folder, 'tokenizer_config.json'), '{}');
    const taken = await line();
    expect(taken.split(', ').slice(0, 3)).toEqual(kept.split(', ').slice(0, 3));
    const length = (text: string): number => Number(/'gen_len': (\d+)/.exec(text)?.[1]);
    expect(length(taken)).toBeLessThan(length(kept));
  });
});

describe('mixtral-8x7b', () => {
  it('never runs programs: it says so, and the target cannot be met', async () => {
    const data = writeTextData(tempFolder(), 'mixtral-8x7b');
    const rows = JSON.parse(readFileSync(data.file, 'utf8')) as Record<string, unknown>[];
    rows[0] = { ...rows[0], dataset: 'MBXP' };
    writeFileSync(data.file, JSON.stringify(rows));
    const dataSet = await openData('mixtral-8x7b', data.folder);
    expect(dataSet.marks?.join()).toContain('mbxp is not scored');
    expect(dataSet.marks?.join()).toContain(
      '1 of 1 prompts of MBXP do not begin with the token ids',
    );
    rows[0] = { ...rows[0], tok_input: [...PROGRAM_PROMPT_HEAD, 7] };
    writeFileSync(data.file, JSON.stringify(rows));
    const { marks } = await openData('mixtral-8x7b', data.folder);
    expect(marks?.join()).not.toContain('prompts of MBXP');
    const report = await dataSet.scoreAccuracy(await readLog(data.log));
    expect(report.scriptLine).toContain("'mbxp': 0,");
    const good = { ROUGE2: 30, ROUGEL: 40, gsm8k_accuracy: 80, TOKENS_PER_SAMPLE: 145 };
    const quality = qualityOfRun(benchmarkRules('mixtral-8x7b'), 'v4.1', dataSet);
    const base = { metric: 'ROUGE1', value: 0.6, sampleCount: 15_000 };
    expect(isMet({ ...base, more: good }, quality)).toBe(false);
    expect(isMet({ ...base, more: { ...good, mbxp_accuracy: 60 } }, quality)).toBe(true);
  });

  it('leaves ROUGE out without a text, as the script does', async () => {
    const data = writeTextData(tempFolder(), 'mixtral-8x7b');
    const rows = JSON.parse(readFileSync(data.file, 'utf8')) as { dataset: string }[];
    const index = rows.findIndex(({ dataset }) => dataset === 'GSM8K');
    const dataSet = await openData('mixtral-8x7b', data.folder);
    const entries = (await readLog(data.log)).filter(({ sampleIndex }) => sampleIndex === index);
    const { scriptLine } = await dataSet.scoreAccuracy(entries);
    expect(scriptLine).toMatch(/^\{'gsm8k': (100\.0|0\.0), 'mbxp': 0, 'gen_len': 0, 'gen_num': 1,/);
  });
});

describe('quality', () => {
  const rules = benchmarkRules('llama2-70b');
  const report = {
    ...{ metric: 'ROUGE1', value: 0.4443, sampleCount: 24_576 },
    more: { ROUGE2: 22, ROUGEL: 28.5, TOKENS_PER_SAMPLE: 294.5 },
  };
  const quality = qualityOfRun(rules, 'v4.1', {} as DataSet);

  it('is met where all metrics are within their bounds', () => {
    expect(isMet(report, quality)).toBe(true);
  });

  it.each([
    { ROUGE2: 21.8 },
    { ROUGEL: 28.3 },
    { TOKENS_PER_SAMPLE: 265 },
    { TOKENS_PER_SAMPLE: 324 },
    { ROUGE2: Number.NaN },
  ])('is missed with %j', (other) => {
    expect(isMet({ ...report, more: { ...report.more, ...other } }, quality)).toBe(false);
  });

  it('is stricter in round v6.1, which has the stricter model alone', () => {
    expect(isMet({ ...report, value: 0.4405 }, quality)).toBe(true);
    expect(isMet({ ...report, value: 0.4405 }, qualityOfRun(rules, 'v6.1', {} as DataSet))).toBe(
      false,
    );
  });
});
