import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { packInto, repositoryFile } from '../../scenes/host/repository.ts';
import { whyNoNamespaces } from '../network/sut-behind-link.ts';

// Goal: the package in two empty folders, on two hosts with a link between them, measure with
// mutual TLS and a token, and the audit finds nothing wrong but that both hosts are one machine.
// Method: deploy/two-hosts/try.sh as a user calls it.

const script = repositoryFile('deploy/two-hosts/try.sh');
const why = whyNoNamespaces();

describe.skipIf(why !== undefined)(`two hosts${why === undefined ? '' : ` (${why})`}`, () => {
  it('are measured from packages, and the shared boot id is the one finding about them', () => {
    const output = join(suiteFolder(), 'run');
    const tarball = packInto(suiteFolder());
    const { status, stdout, stderr } = spawnSync(
      script,
      ['--output', output, '--package', tarball],
      {
        encoding: 'utf8',
        timeout: 800_000,
      },
    );
    // 3 is INVALID: a machine that is busy with other things may miss the schedule. The audit is
    // the same.
    expect({ isEnded: status === 0 || status === 3, stderr }).toMatchObject({ isEnded: true });
    expect(stdout).toMatch(/^(VALID|INVALID) /m);
    expect(stdout).not.toContain('WRONG');
    expect(stdout.match(/as it must be/g)).toHaveLength(7);
    const detail = readFileSync(join(output, 'mlperf_log_detail.txt'), 'utf8');
    const [, shortestNs] = /"result_min_latency_ns", "value": (\d+)/.exec(detail) ?? [];
    // A millisecond each way.
    expect(Number(shortestNs)).toBeGreaterThan(2e6);
    // npm installs twice, which takes minutes on a machine that is busy.
  }, 900_000);

  it.each([
    ['a flag that it does not know', ['--lantency', '1'], /"--lantency" is no flag/],
    ['a delay that is no number', ['--delay-ms', 'slow'], /--delay-ms slow: a number is needed/],
    [
      'a package that is not there',
      ['--package', '/no/such.tgz'],
      /no\/such\.tgz: there is no such file/,
    ],
  ])('refuse %s', (_case, flags, said) => {
    const { status, stderr } = spawnSync(script, flags, { encoding: 'utf8', timeout: 60_000 });
    expect(status).toBe(2);
    expect(stderr).toMatch(said);
  });
});
