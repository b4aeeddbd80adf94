import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConf } from '../../../loadgen-node/loadgen/settings/conf-grammar.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere as longhaul } from '../../scenes/host/processes.ts';
import { readGolden } from '../../scenes/simulated-run/golden.ts';

// Goal: settings, settings explain, conf and the files of run do from a shell what they say.
// Method: the compiled command line; every combination of files is in unit and conformance tests.

const folder = suiteFolder();

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

interface Printed {
  readonly rc: number;
  readonly files: readonly { readonly file: string; readonly rc: number }[];
  readonly settings: Readonly<Record<string, unknown>>;
}

const RESNET = ['--benchmark', 'resnet50', '--scenario', 'Server'];

async function settingsJson(args: readonly string[]): Promise<Printed & { code: number | null }> {
  const { code, stdout } = await longhaul(['loadgen', 'settings', ...RESNET, ...args, '--json'], {
    cwd: folder,
  });
  return { code, ...(JSON.parse(stdout) as Printed) };
}

describe('longhaul loadgen settings', () => {
  it("prints a round's settings in the form of the golden files", async () => {
    const { rows } = readGolden<{ rows: { model: string; scenario: string; settings: object }[] }>(
      'configuration/config_mlperf_conf_v4.1.json',
    );
    const row = rows.find(({ model, scenario }) => model === 'resnet50' && scenario === 'Server');
    const { code, rc, settings } = await settingsJson([]);
    expect({ code, rc, settings }).toEqual({ code: 0, rc: 0, settings: row?.settings });
  });

  it('applies user.conf and audit.config, and prints every digit', async () => {
    const user = file('good.conf', '*.Server.min_query_count = -1\n*.*.qsl_rng_seed = 0x10\n');
    const audit = file('some.config', '*.*.mode = 1\n');
    const args = [
      'loadgen',
      'settings',
      ...RESNET,
      '--json',
      '--user-conf',
      user,
      '--audit-conf',
      audit,
    ];
    const { stdout, stderr } = await longhaul(args, { cwd: folder });
    expect(stdout).toContain('"min_query_count": 18446744073709551615,');
    const { settings } = JSON.parse(stdout) as Printed;
    expect(settings).toMatchObject({ qsl_rng_seed: '16', mode: 'AccuracyOnly' });
    expect(stderr).toMatch(/^longhaul: note: LoadGen logs: Found Audit Config file /);
  });

  it('prints the return code and the untouched settings of a wrong file, and says what is wrong', async () => {
    const user = file('bad.conf', '\n*.Server.target_qps 5\n');
    const { code, rc, files, settings } = await settingsJson(['--user-conf', user]);
    expect({ code, rc }).toEqual({ code: 2, rc: -22 });
    expect(files.map((entry) => entry.rc)).toEqual([0, -22]);
    expect(settings).toMatchObject({ server_target_qps: 1, min_duration_ms: 600_000 });
  });

  it('prints a table with the source of each value', async () => {
    const user = file('user.conf', '*.Server.target_qps = 20\n');
    const args = ['loadgen', 'settings', ...RESNET, '--user-conf', 'user.conf'];
    const { code, stdout, stderr } = await longhaul(args, { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(user).toContain('user.conf');
    expect(stdout).toMatch(/^server_target_qps +20 +queries\/s +user\.conf:1$/m);
    expect(stdout).toMatch(/^server_target_latency_ns +15000000 +ns +mlperf\.conf of v4\.1:36$/m);
    expect(stdout).toMatch(/^max_query_count +0 +queries +default$/m);
  });

  it('knows nothing of a model without lines but says so', async () => {
    const args = ['loadgen', 'settings', '--benchmark', 'resnet', '--scenario', 'Server'];
    const { code, stderr } = await longhaul(args, { cwd: folder });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^longhaul: note: round v4\.1 has no lines for model "resnet", .*resnet50/,
    );
  });

  it.each([['server_target_latency_ns'], ['bert.Server.target_latency'], ['--target-latency']])(
    'explains %s',
    async (key) => {
      const { code, stdout } = await longhaul(['loadgen', 'settings', 'explain', key]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^server_target_latency_ns\n {2}what {8}Server: latency bound/);
      expect(stdout).toContain('bert.Server.target_latency = 130');
    },
  );
});

describe('longhaul loadgen conf', () => {
  it("writes a round's file, which gives the same settings when it is read", async () => {
    const { code, stdout } = await longhaul(['loadgen', 'conf', '--round', 'v6.1']);
    expect(code).toBe(0);
    expect(parseConf(stdout).notes).toEqual([]);
    const written = file('mlperf.conf', stdout);
    const fromFile = await settingsJson(['--round', 'v6.1', '--mlperf-conf', written]);
    const builtIn = await settingsJson(['--round', 'v6.1']);
    expect(fromFile.settings).toEqual(builtIn.settings);
  });
});

it('stops a run at a wrong line of audit.config in the working directory, before it begins', async () => {
  const cwd = suiteFolder();
  writeFileSync(join(cwd, 'audit.config'), '*.*.mode = 2 # performance\n');
  const run = 'run --sut 127.0.0.1:1 --benchmark digits --target-qps 10';
  const { code, stderr } = await longhaul(run.split(' '), { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^longhaul: audit\.config:1: a comment cannot follow .*= 2\n$/);
});
