import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';

// Goal: docs/submission-walkthrough.sh tells why a run ended it. Method: the script itself, with a program in the place of
// longhaul that ends as an INVALID run does; with real runs it is tested by `npm run test:walkthrough`.
const SCRIPT = resolve(import.meta.dirname, '../../../docs/submission-walkthrough.sh');

const INVALID = `#!/bin/sh
echo 'INVALID       digits, Server'
echo '  - The latency bound was missed: needed is 1 ms.'
echo 'a line of progress' >&2
exit 3
`;

describe('docs/submission-walkthrough.sh', () => {
  it('shows the report of an INVALID run, and ends with its exit code', () => {
    const folder = tempFolder();
    const program = join(folder, 'invalid.sh');
    writeFileSync(program, INVALID, { mode: 0o755 });
    const env = { ...process.env, LONGHAUL: program, SUT: '127.0.0.1:1', ROUNDS: 'v4.1' };
    const args = ['--dry-run-lengths', join(folder, 'out')];
    const { status, stderr } = spawnSync(SCRIPT, args, { env, encoding: 'utf8' });
    expect(stderr).toContain('The latency bound was missed: needed is 1 ms.');
    expect(stderr).toContain('a line of progress');
    expect(stderr).toMatch(
      /v4\.1\/runs\/Server\/accuracy ended with exit code 3; start the script/,
    );
    expect(status).toBe(3);
  });
});
