import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import {
  AccuracyLog,
  LogFile,
} from '../../../../../../loadgen-node/loadgen/logs/write/log-file.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';
import { goldenPath } from '../../../../../scenes/simulated-run/golden.ts';

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
          entries.map(({ responseId, sampleIndex, bytes, tokens }) => ({
            seqId: responseId,
            sampleIndex,
            response: Buffer.from(bytes),
            ...(tokens?.firstToken ? { firstToken: Buffer.from(tokens.firstToken) } : {}),
            ...(tokens === null ? {} : { tokenCount: tokens.count }),
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
      {
        ...{ seqId: 3, sampleIndex: 7, response: Buffer.from([10]) },
        ...{ firstToken: Buffer.from([30]), tokenCount: 5 },
      },
    ]);
  });

  it('reads what the C++ LoadGen wrote, tokens included', async () => {
    const entries = await readAll(
      goldenPath('loadgen-v4.1/logs/sv_acc_tokens/mlperf_log_accuracy.json'),
    );
    expect(entries[0]).toEqual({
      ...{ seqId: 0, sampleIndex: 54, response: Buffer.from('3600000000000000', 'hex') },
      ...{ firstToken: Buffer.from('1E040000', 'hex'), tokenCount: 10 },
    });
    expect(new Set(entries.map(({ sampleIndex }) => sampleIndex)).size).toBe(entries.length);
  });

  // Harnesses rewrite the log; the official scripts read any JSON.
  it.each([
    ['compact', (list: unknown[]) => JSON.stringify(list)],
    ['indented', (list: unknown[]) => JSON.stringify(list, undefined, 4)],
    [
      'with Windows line ends',
      (list: unknown[]) => JSON.stringify(list, undefined, 1).replaceAll('\n', '\r\n'),
    ],
    [
      'with a field more',
      (list: unknown[]) =>
        JSON.stringify(
          list.map((one) => ({ note: '"}],{', deep: { a: ['\\'] }, ...(one as object) })),
        ),
    ],
    ['in lower case', (list: unknown[]) => JSON.stringify(list).toLowerCase()],
  ])('reads the same list %s', async (_case, write) => {
    const list = Array.from({ length: 50 }, (_, i) => ({
      seq_id: i,
      qsl_idx: 49 - i,
      data: 'AB'.repeat(i),
    }));
    expect(await readText(write(list))).toEqual(
      list.map(({ seq_id, qsl_idx, data }) => ({
        ...{ seqId: seq_id, sampleIndex: qsl_idx },
        response: Buffer.from(data, 'hex'),
      })),
    );
  });

  it('reads an entry that is longer than what is read at once', async () => {
    const data = '0123456789ABCDEF'.repeat(2 ** 16);
    const [entry] = await readText(`[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "${data}" }\n]\n`);
    expect(
      Buffer.from(entry?.response ?? [])
        .toString('hex')
        .toUpperCase() === data,
    ).toBe(true);
  });

  const first = '{ "seq_id" : 0, "qsl_idx" : 1, "data" : "00" }';
  it.each([
    ['is empty', '', /line 0 \(byte 0\): it is empty/],
    ['was cut off after an entry', `[\n${first},\n`, /line 2 \(byte 50\): the list does not end/],
    [
      'was cut off inside an entry',
      `[\n${first.slice(0, 40)}`,
      /line 2 \(byte 42\): the list does not end/,
    ],
    [
      'has half a byte',
      `[\n${first.replace('"00"', '"000"')}\n]\n`,
      /line 2 \(byte 2\): the data of sample 1/,
    ],
    [
      'has other letters',
      `[\n${first.replace('"00"', '"zz"')}\n]\n`,
      /line 2 \(byte 2\): the data of sample 1/,
    ],
    ['lacks a comma', `[\n${first}\n${first}\n]\n`, /line 3 \(byte 49\): unexpected/],
    ['has a comma too many', `[\n${first},\n]\n`, /line 3 \(byte 50\): unexpected "\]"/],
    ['goes on after the end', '[\n]\n]\n', /line 3 \(byte 4\): unexpected "\]"/],
    ['is something else', '<html>\n', /line 1 \(byte 0\): unexpected "<html>"/],
    ['begins with a mark of bytes', `\ufeff[\n${first}\n]\n`, /line 1 \(byte 0\): unexpected/],
    ['is one entry', `${first}\n`, /line 1 \(byte 0\): unexpected "\{/],
    ['has no sample', '[{"seq_id":1,"data":"00"}]', /line 1 \(byte 1\): not an entry/],
    ['has a rounded sample', '[{"seq_id":1,"qsl_idx":1e300,"data":"00"}]', /not an entry/],
    ['has a quoted sample', '[{"seq_id":1,"qsl_idx":"1","data":"00"}]', /not an entry/],
    ['has a number for data', '[{"seq_id":1,"qsl_idx":1,"data":0}]', /not an entry/],
    [
      'has half a token',
      '[{"seq_id":1,"qsl_idx":1,"data":"","token_data":"0"}]',
      /the first token of sample 1/,
    ],
    [
      'counts half tokens',
      '[{"seq_id":1,"qsl_idx":1,"data":"","token_count":0.5}]',
      /not an entry/,
    ],
    [
      'is no JSON inside',
      '[{"seq_id":1,"qsl_idx":1,"data":"00",}]',
      /line 1 \(byte 1\): not an entry/,
    ],
    [
      'was truncated for a submission',
      `[\n${first},\n{ "seq_\n\n...\n\n0" }\n]\n`,
      /line 3 \(byte 50\): not an entry/,
    ],
  ])('refuses a log that %s', async (_case, text, message) => {
    await expect(readText(text)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringMatching(message),
    });
  });

  it('refuses bytes that are no text', async () => {
    const path = join(tempFolder(), 'accuracy.json');
    writeFileSync(
      path,
      Buffer.concat([Buffer.from('[{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}]')]),
    );
    await expect(readAll(path)).rejects.toThrow(/line 1 \(byte 1\): an entry is not UTF-8/);
  });

  it('says that there is no log', async () => {
    const path = join(tempFolder(), 'accuracy.json');
    await expect(readAll(path)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: `cannot read the accuracy log ${path}: there is no such file or folder`,
    });
  });
});
