import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AccuracyLog } from '../../../../loadgen-node/logs/accuracy-log.ts';
import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../../loadgen-node/logs/accuracy-log-reader.ts';
import { LogFile } from '../../../../loadgen-node/logs/log-file.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

async function readAll(path: string): Promise<AccuracyLogEntry[]> {
  const entries: AccuracyLogEntry[] = [];
  for await (const entry of readAccuracyLog(path)) entries.push(entry);
  return entries;
}

async function readText(text: string): Promise<AccuracyLogEntry[]> {
  const path = join(tempFolder(), 'accuracy.json');
  writeFileSync(path, text);
  return await readAll(path);
}

// Goal: the scorer reads exactly what was logged, or is told where the log is damaged.
// Method: read back what AccuracyLog wrote; damage a good log in one place at a time.
describe('readAccuracyLog', () => {
  it('reads back what was written', async () => {
    const folder = tempFolder();
    const entry = fc.record({
      responseId: fc.nat(),
      sampleIndex: fc.nat(),
      bytes: fc.uint8Array({ maxLength: 20 }),
      tokens: fc.option(
        fc.record({
          count: fc.nat(),
          firstToken: fc.option(fc.uint8Array({ maxLength: 4 })),
        }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry), async (entries) => {
        const file = new LogFile(join(folder, 'accuracy.json'));
        const log = new AccuracyLog(file);
        for (const one of entries) log.write(one);
        log.end();
        file.close();
        const read = await readAll(file.path);
        expect(read).toEqual(
          entries.map(({ responseId, sampleIndex, bytes }) => ({
            seqId: responseId,
            sampleIndex,
            response: Buffer.from(bytes),
          })),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('reads the entries of token models', async () => {
    const line =
      '{ "seq_id" : 3, "qsl_idx" : 7, "data" : "0A", "token_data" : "1E", "token_count" : 5 }';
    expect(await readText(`[\n${line}\n]\n`)).toEqual([
      { seqId: 3, sampleIndex: 7, response: Buffer.from([10]) },
    ]);
  });

  const first = '{ "seq_id" : 0, "qsl_idx" : 1, "data" : "00" }';
  it.each([
    ['is empty', '', /line 0: the list does not end/],
    ['was cut off after an entry', `[\n${first},\n`, /line 2: the list does not end/],
    ['was cut off inside an entry', `[\n${first.slice(0, 40)}`, /line 2: not an entry/],
    [
      'has half a byte',
      `[\n${first.replace('"00"', '"000"')}\n]\n`,
      /line 2: the data of sample 1/,
    ],
    [
      'has other letters',
      `[\n${first.replace('"00"', '"zz"')}\n]\n`,
      /line 2: the data of sample 1/,
    ],
    ['lacks a comma', `[\n${first}\n${first}\n]\n`, /line 3: unexpected/],
    ['has a comma too many', `[\n${first},\n]\n`, /line 3: not an entry/],
    ['goes on after the end', '[\n]\n]\n', /line 3: unexpected/],
    ['is something else', '<html>\n', /line 1: unexpected/],
  ])('refuses a log that %s', async (_case, text, message) => {
    await expect(readText(text)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringMatching(message),
    });
  });

  it('says that there is no log', async () => {
    const path = join(tempFolder(), 'accuracy.json');
    await expect(readAll(path)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: `cannot read the accuracy log ${path}: there is no such file or folder`,
    });
  });
});
