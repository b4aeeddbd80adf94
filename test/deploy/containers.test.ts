import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../support/process/suite-folder.ts';

// Goal: both images can be built from nothing, and run without rights as deploy/docker/README.md says.
// Method: deploy/docker/try.sh: base images by debootstrap, buildah, crun; some ten minutes. What it lacks, it says.

const script = fileURLToPath(new URL('../../deploy/docker/try.sh', import.meta.url));

/** Why containers cannot be tried here; undefined where they can. */
function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const tools = ['buildah', 'crun', 'debootstrap', 'ip', 'openssl', 'unshare'];
  const isMissing = (tool: string): boolean =>
    spawnSync('/bin/sh', ['-c', `command -v ${tool}`]).status !== 0;
  const missing = tools.filter(isMissing);
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}`;
}

const why = whyNot();

describe.skipIf(why !== undefined)(`containers${why === undefined ? '' : ` (${why})`}`, () => {
  let said = '';
  const results = suiteFolder();

  beforeAll(() => {
    // Root file systems that a folder has already are used again: LONGHAUL_BASE saves the two minutes of debootstrap.
    const base = process.env['LONGHAUL_BASE'] ?? 'debootstrap';
    const storage = join(suiteFolder(), 'storage');
    mkdirSync(storage);
    const args = ['--base', base, '--storage', storage, '--results', results];
    const tried = spawnSync(script, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    said = tried.stdout;
    expect({ status: tried.status, stderr: tried.stderr.slice(-4000) }).toMatchObject({
      status: 0,
    });
  }, 1_800_000);

  const seen = [
    'sut: user 65532:65532, no capability, no new privileges, no setuid program, root file system read-only',
    'loadgen: user 65532:65532, no capability, no new privileges, no setuid program, root file system read-only',
    "sut: the image's health check says: SERVING (port 50052)",
    'sut: longhaul self-check: unmodified: all files are those that were built',
    'loadgen: measured the SUT over mutual TLS with a token: ',
    'loadgen: results on the mounted folder, owned by 65532:65532',
    'sut: tini is process 1 and reaps what others leave',
    'sut: wrote the model into its cache and no other file, so no telemetry either',
    'loadgen: SIGTERM reached the run: exit code 143, and its logs are there',
    'sut: SIGTERM drained the node: exit code 0',
  ];
  it.each(seen)('%s', (line) => {
    expect(said).toContain(`\nok   ${line}`);
  });

  it('leave a run folder with the address of a host that is not LoadGen', () => {
    expect(readdirSync(results).sort()).toEqual(['first', 'second']);
    const audit = readFileSync(join(results, 'first', 'network_audit.json'), 'utf8');
    expect(audit).toContain('10.231.77.2:50051');
  });
});
