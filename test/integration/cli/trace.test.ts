import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import { longhaulHere as longhaul } from '../../scenes/host/processes.ts';

const GOLDEN = fileURLToPath(new URL('../../golden/', import.meta.url));

function golden(path: string): { path: string; content: Record<string, unknown> } {
  const full = join(GOLDEN, path);
  return { path: full, content: JSON.parse(readFileSync(full, 'utf8')) };
}

// Goal: a reviewer can hold the verb against the C++ LoadGen. Method: the compiled command line,
// golden files.
describe('longhaul loadgen trace', () => {
  it('trace prints what a golden trace holds', async () => {
    const { path, content } = golden('loadgen-v6.1/trace/sv_submission.json');
    const { code, stdout } = await longhaul([
      'loadgen',
      'trace',
      '--args',
      path,
      '--round',
      'v6.1',
    ]);
    expect(code).toBe(0);
    const trace = JSON.parse(stdout);
    expect(trace.effective).toEqual(content['effective']);
    expect(trace.accuracy_log).toEqual(content['accuracy_log']);
    expect(trace.phases).toHaveLength(2);
  });

  it('trace takes the same by flags, and prints whole sequences with --full', async () => {
    const flags = ['--scenario', 'Server', '--qsl-total', '100', '--qsl-performance', '10'];
    const sets = '--set server_target_qps=1000 --set schedule_rng_seed=18446744073709551615';
    const { stdout } = await longhaul(['loadgen', 'trace', ...flags, ...sets.split(' '), '--full']);
    const trace = JSON.parse(stdout);
    expect(trace.effective.schedule_rng_seed).toBe('18446744073709551615');
    const [set] = trace.phases[0].sets;
    expect(set.sample_count).toBeGreaterThan(9000);
    expect(set.sample_indices_first).toHaveLength(set.sample_count);
  });

  it("trace reads the round's files when a model or a user.conf is named", async () => {
    const userConf = join(tempFolder(), 'user.conf');
    writeFileSync(userConf, '*.Server.target_qps = 250\n*.Server.min_duration = 1000\n');
    const flags = ['--scenario', 'Server', '--qsl-total', '50000', '--qsl-performance', '1024'];
    const files = ['--model', 'resnet50', '--user-conf', userConf];
    const set = ['--set', 'min_duration_ms=500'];
    const { stdout } = await longhaul(['loadgen', 'trace', ...flags, ...files, ...set]);
    const { effective } = JSON.parse(stdout);
    expect(effective).toMatchObject({
      qsl_rng_seed: '3066443479025735752',
      target_qps: { v: 250 },
      min_duration_ms: 500,
    });
  });

  it('trace follows the C++ library that is requested', async () => {
    const flags = ['loadgen', 'trace', '--qsl-total', '5000', '--qsl-performance', '5000'];
    const newer = JSON.parse((await longhaul(flags)).stdout);
    const older = await longhaul([...flags, '--rng-library', 'libstdc++-10']);
    expect(JSON.parse(older.stdout).phases).not.toEqual(newer.phases);
  });
});
