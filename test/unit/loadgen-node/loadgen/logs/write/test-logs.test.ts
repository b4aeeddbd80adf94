import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TestLogs } from '../../../../../../loadgen-node/loadgen/logs/write/test-logs.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: what a server says in a reason cannot steer the terminal of who reads the summary.
it('keeps the lines of a summary and no other control characters', () => {
  const logs = new TestLogs({ outdir: tempFolder(), print: () => {} }, () => 0);
  logs.appendSummary('first: \u001b[31mred\u0000\r\nsecond\n');
  logs.end();
  expect(readFileSync(logs.paths.summary, 'utf8')).toContain(
    'first: \ufffd[31mred\ufffd\ufffd\nsecond\n',
  );
});
