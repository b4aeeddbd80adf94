import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/gnmt/benchmark.ts';
import { scoreBleu } from '../../../../../../loadgen-node/samples/benchmarks/gnmt/bleu.ts';
import { scoreAccuracyLog } from '../../../../../../loadgen-node/samples/benchmarks/score-each.ts';

// Goal: the BLEU of process_accuracy.py, digit for digit, also where a log has odd entries.
// Method: logs that the official script scored; small texts whose BLEU is counted by hand.

function bleu(references: readonly string[], ...translations: readonly (string | Uint8Array)[]) {
  const entries = translations.map((text, sampleIndex) => ({
    sampleIndex,
    response: typeof text === 'string' ? new TextEncoder().encode(text) : text,
  }));
  return scoreBleu(entries, references, 'BLEU');
}

describe('scoreBleu', () => {
  it.each(['a', 'b'])('prints the line of the official script: log %s', async (name) => {
    const dataFolder = `test/golden/benchmarks/gnmt/${name}`;
    const options = { dataFolder, cacheFolder: '', isScoreOnly: true, onProgress: () => {} };
    const dataSet = await benchmark.openDataSet(options);
    const log = `${dataFolder}/mlperf_log_accuracy.json`;
    const { report } = await scoreAccuracyLog(dataSet, log);
    const expected = readFileSync(`${dataFolder}/expected-stdout.txt`, 'utf8').trim();
    expect(report.scriptLine).toBe(expected);
    expect(`BLEU: ${(report.value * 100).toFixed(1)}`).toBe(expected);
  });

  it('joins parts of words and strips the reference, not the translation', async () => {
    const reference = '\x85 a b c@@ d e f \u3000';
    expect((await bleu([reference], 'a b cd e f')).scriptLine).toBe('BLEU: 100.0');
    // One word more, the empty one: 5 of 6, 4 of 5, 3 of 4, 2 of 3.
    expect((await bleu([reference], 'a b cd e f ')).scriptLine).toBe('BLEU: 76.0');
  });

  it('counts an n-gram as often as the reference has it', async () => {
    // 4 of 5, 3 of 4, 2 of 3, 1 of 2.
    expect((await bleu(['a a a a'], 'a a a a a')).scriptLine).toBe('BLEU: 66.9');
  });

  it('takes an empty translation as one empty word, which makes the whole shorter', async () => {
    const references = ['a b c d', 'e f g h'];
    const whole = await bleu(references, 'a b c d', 'e f g h');
    expect(whole.value).toBe(1);
    // 4 of 5 words, all longer ones; shorter by exp(1 - 8 / 5).
    const { value, sampleCount } = await bleu(references, 'a b c d', '');
    expect(value).toBeCloseTo(0.8 ** 0.25 * Math.exp(1 - 8 / 5), 3);
    expect(sampleCount).toBe(2);
  });

  it('is 0 where one order has no match', async () => {
    expect((await bleu(['a b c d'], 'a b c x')).scriptLine).toBe('BLEU: 0.0');
    expect((await bleu(['a b c'], 'a b c')).scriptLine).toBe('BLEU: 0.0');
  });

  it('takes the first response of a sample', async () => {
    const response = new TextEncoder().encode('a b c d');
    const entries = [
      { sampleIndex: 0, response },
      { sampleIndex: 0, response: new Uint8Array(0) },
    ];
    expect(await scoreBleu(entries, ['a b c d'], 'BLEU')).toMatchObject({
      ...{ value: 1, sampleCount: 1 },
    });
  });

  it('refuses what the script cannot score', async () => {
    const code = 'ERR_DATA_SET';
    await expect(bleu(['a'])).rejects.toMatchObject({ code });
    await expect(bleu(['a'], Uint8Array.of(0xc3))).rejects.toMatchObject({
      ...{ code, message: expect.stringContaining('sample 0 is not UTF-8 text') },
    });
    await expect(bleu(['a'], 'a', 'b')).rejects.toMatchObject({ code });
  });
});
