import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  AccuracyLog,
  LogFile,
} from '../../../../../../loadgen-node/loadgen/logs/write/log-file.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: an entry of the accuracy log has all bytes of a response, of any size. Method: sizes around
// the pieces in which digits are made, written and parsed again.

const PIECE = 1 << 19;
const SIZES = [0, 1, 4, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7];

it('writes responses of any size whole, in their order', () => {
  const path = join(tempFolder(), 'mlperf_log_accuracy.json');
  const file = new LogFile(path);
  const log = new AccuracyLog(file);
  // A view into a larger buffer, as responses are.
  const all = Uint8Array.from({ length: 4 * PIECE }, (_, i) => (i * 2_654_435_761) >>> 13);
  const responses = SIZES.map((size, i) => all.subarray(i, i + size));
  responses.forEach((bytes, i) => {
    const tokens = i % 2 === 0 ? null : { count: i, firstToken: bytes };
    log.write({ responseId: i, sampleIndex: 10 + i, bytes, tokens });
  });
  log.end();
  file.close();
  const entries = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>[];
  expect(entries.map(({ seq_id, qsl_idx }) => [seq_id, qsl_idx])).toEqual(
    SIZES.map((_, i) => [i, 10 + i]),
  );
  entries.forEach(({ data, token_data, token_count }, i) => {
    const digits = Buffer.from(responses[i] as Uint8Array)
      .toString('hex')
      .toUpperCase();
    expect(data === digits).toBe(true);
    expect(token_count).toBe(i % 2 === 0 ? undefined : i);
    if (i % 2 === 1) expect(token_data === digits).toBe(true);
  });
});
