import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BENCHMARK_KEYS } from '../../../shared/rules/benchmark-rules.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul, longhaulHere } from '../../scenes/host/processes.ts';

// Goal: what is typed wrong, or what is not there, is told in one line with an exit code of its
// kind. Method: the compiled command line; that the real bin does the same is shown once. No SUT
// node is needed for these.

const folder = suiteFolder();

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs that no node answers; settings of a model. */
const RUN = 'run --sut 127.0.0.1:1 --benchmark digits --target-qps 10';
const SETTINGS = 'loadgen settings --benchmark resnet50 --scenario Server';
const BAD_CONF = file('wrong.conf', '*.Server.target_qps = fast\n');
const TRACE = 'loadgen trace --qsl-total 9 --qsl-performance 9';

describe('the real bin', () => {
  it.each([
    ['an answer', ['config', 'show', 'run', '--sut', 'a:1']],
    ['an error', ['measure']],
  ])('says %s as the command line does, with the same exit code', async (_case, args) => {
    const { code, stdout, stderr } = await longhaul(args);
    expect({ code, stdout, stderr }).toEqual(await longhaulHere(args));
    expect(stdout + stderr).not.toBe('');
  });
});

describe('help', () => {
  it.each([
    '',
    'run',
    'sut',
    'probe name',
    'config',
    'config init',
    'demo',
    'loadgen compression',
    'audit',
    'prepare',
    'submission data verify',
    'loadgen settings',
    'loadgen settings explain',
    'loadgen conf',
  ])('of longhaul %s shows an example', async (verb) => {
    const { code, stdout, stderr } = await longhaulHere(`${verb} --help`.trim().split(' '));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Examples?.*:\n {2}longhaul /);
  });

  it('of a verb shows all flags with --help-all', async () => {
    const short = await longhaulHere(['run', '--help']);
    const all = await longhaulHere(['run', '--help-all']);
    expect([short.code, all.code]).toEqual([0, 0]);
    expect(short.stdout).not.toContain('--keepalive-time ');
    expect(all.stdout).toMatch(/^Nodes and connections:$[\s\S]*--keepalive-time /m);
  });
});

describe('longhaul submission data verify', () => {
  it('compares what a run would take, and nothing else in the folder', async () => {
    const set = suiteFolder();
    const data = ['--benchmark', 'custom', '--data-dir', set];
    for (const name of ['a', 'b']) writeFileSync(join(set, name), name);
    const list = join(set, 'SHA256SUMS');
    expect(
      await longhaulHere(['submission', 'data', 'checksums', ...data, '--output', list]),
    ).toMatchObject({
      code: 0,
    });
    for (const name of ['.DS_Store', 'manifest.json']) writeFileSync(join(set, name), name);
    mkdirSync(join(set, 'old'));
    writeFileSync(join(set, 'old', 'c'), 'c');
    expect(await longhaulHere(['submission', 'data', 'verify', ...data])).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/has it: 1 not in the list \(manifest\.json\)\n/),
    });
    rmSync(join(set, 'manifest.json'));
    expect(await longhaulHere(['submission', 'data', 'verify', ...data])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 samples of custom'),
    });
  });
});

describe('wrong input', () => {
  it.each<[commandLine: string, code: number, message: RegExp]>([
    ['measure', 2, /unknown command 'measure'/],
    ['config sut', 2, /unknown command 'sut'/],
    [`${RUN} --vus 5`, 2, /unknown option '--vus': .*--division open --concurrency N/],
    ['curve --search-time 5s', 2, /'--search-time': it is a flag of "longhaul find-peak", /],
    ['submission pack --fail-if p99', 2, /'--fail-if': write --threshold .* for a run/],
    ['run 127.0.0.1:1 --benchmark digits --qps 10', 4, /no SUT node answers at 127\.0\.0\.1:1/],
    ['run here --benchmark digits --qps 10', 2, /--sut "here" must be host:port/],
    ['sut --benchmark digits --listen here', 2, /--listen "here" must be host:port, or :port/],
    ['config completion ksh', 2, /shell "ksh" must be one of: bash, zsh, fish/],
    [
      'config init --benchmark bort --output -',
      2,
      /unknown benchmark "bort"; did you mean "bert"\?/,
    ],
    [`${RUN} --scenario Sever`, 2, /--scenario "Sever" must be one of: SingleStream, /],
    [
      `${RUN} --scenario Interactive`,
      2,
      /must be one of: .*; Interactive is Server with tighter bounds: --benchmark llama2-70b-inter/,
    ],
    [
      'sut --benchmark llama2-70b-interactive-99',
      2,
      /"llama2-70b-interactive-99" is a benchmark of runs, whose SUT nodes serve llama2-70b/,
    ],
    [
      'run --sut a:1 --benchmark vision --target-qps 1',
      2,
      /unknown benchmark "vision"; there is: digits/,
    ],
    [`${RUN} --encoding png`, 2, /no encoding "png"; there is: jpeg, raw/],
    [
      `${RUN} --encoding jpeg --compression lz4`,
      2,
      /two of the options; the rule: ".*The original compression of the dataset \(JPEG\)/,
    ],
    [
      `${RUN} --response-compression lz4,brotli`,
      2,
      /--response-compression .* must be a list of: identity, lz4, gzip, zstd/,
    ],
    ['sut --benchmark null --response-compression lz4', 2, /benchmark null has no compression/],
    ['prepare bert-standin', 2, /cannot prepare "bert-standin": use one of resnet50-standin/],
    // A folder that cannot be made.
    [
      `prepare resnet50-standin --output ${join(file('plain', ''), 'below')}`,
      6,
      /--output .*plain.below/,
    ],
    ['probe name --sut nowhere', 2, /--sut "nowhere" must be host:port/],
    ['probe name', 2, /--sut <.*host:port\[,.*\]> is needed/],
    [`${RUN} --stall-timeout 0s`, 2, /must be longer than 0/],
    // A plan that no memory holds.
    [
      `${RUN} --target-qps 1e9`,
      2,
      /server_target_qps 1000000000 \(--target-qps\) and .* ask for 10000000000 samples/,
    ],
    [`${RUN} --mode find-peak --scenario Offline`, 2, /find-peak searches in Server only/],
    [`${RUN} --mode accuracy --extend-until-decided`, 2, /extends performance runs/],
    ['sut --benchmark digits --node a,b', 2, /must not hold a comma/],
    ['run --sut a:1 --benchmark digits', 2, /--target-qps <n> is needed/],
    [`${RUN} --min-duration 10`, 2, /--min-duration "10" must be a duration/],
    ['sut --benchmark digits --node=', 2, /--node "" must not be empty/],
    [
      `${RUN} --config ${join(folder, 'no.yaml')}`,
      2,
      /cannot read .*no\.yaml: there is no such file/,
    ],
    [RUN, 4, /no SUT node answers at 127\.0\.0\.1:1 \(connection refused\)/],
    ['probe name --sut 127.0.0.1:1', 4, /no SUT node answers/],
    ['probe name --sut no-such-host.invalid:1', 4, /cannot be resolved/],
    ['loadgen settings --scenario Server', 2, /--benchmark <name> is needed/],
    ['loadgen settings --benchmark bert', 2, /--scenario <SingleStream\|.*> is needed/],
    [
      'loadgen settings --benchmark bert --scenario X',
      2,
      /--scenario "X" must be one of: SingleStream, /,
    ],
    [`${SETTINGS} --round v9`, 2, /--round "v9" must be one of: v0\.5, v4/],
    ['loadgen conf --round 4.1', 2, /--round "4\.1" must be one of: v0\.5, v2\.1/],
    ['loadgen settings explain qps', 2, /unknown setting "qps"; the keys of/],
    [`${SETTINGS} --user-conf no.conf`, 2, /cannot read no/],
    [`${SETTINGS} --user-conf ${BAD_CONF}`, 2, /wrong\.conf:1: "fast" is not a number/],
    [`${RUN} --round v9`, 2, /--round "v9" must be one of: v0\.5/],
    [`${RUN} --user-conf ${BAD_CONF}`, 2, /wrong\.conf:1: "fast" is not a number/],
    [`${RUN} --audit-conf no.config`, 2, /cannot read no\.c/],
    [`${RUN} --mlperf-conf x`, 2, /cannot read x: /],
    ['loadgen trace --args nothing.json', 2, /cannot read nothing\.json/],
    ['loadgen trace --scenario Server', 2, /--qsl-total/],
    ['loadgen trace --set x', 2, /field=value/],
    [`${TRACE} --scenario Batch`, 2, /--scenario "Batch" must be one of: SingleStream/],
    ['loadgen trace --qsl-total 0 --qsl-performance 1', 2, /sample library is empty/],
    [`${TRACE} --set qsl_rng_seed=${2n ** 64n}`, 2, /qsl_rng_seed .* 2\^64 - 1/],
    [`${TRACE} --user-conf no.conf`, 2, /cannot read no\.conf/],
    ['loadgen trace --round v9.9', 2, /v9\.9/],
    ['accuracy nowhere', 6, /nowhere: there is no such file or folder; it is mlperf_log_accuracy/],
    [`accuracy ${suiteFolder()} --benchmark gnmt`, 6, /has no mlperf_log_accuracy\.json/],
    [
      `loadgen trace --args ${file('number.json', '{"args": {"qsl_rng_seed": 1}, "qsl": {}}')}`,
      2,
      /must be a text in quotes/,
    ],
    [`loadgen trace --args ${file('none.json', '{')}`, 2, /is not JSON/],
  ])('longhaul %s: one line and exit code %d', async (commandLine, exitCode, message) => {
    const { code, stdout, stderr } = await longhaulHere(commandLine.split(' '));
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
  });

  it('in a file is named with line and column', async () => {
    const path = file('unknown.yaml', 'run:\n  sut: [a:1]\n  benchmarks: digits\n');
    const { code, stderr } = await longhaulHere(['run', '--config', path]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `${path}:3:3: unknown key "benchmarks" in section "run"; did you mean "benchmark"?`,
    );
  });

  it('of every kind is listed at once', async () => {
    const { stderr } = await longhaulHere(['run', '--scenario', 'x', '--min-duration', 'y']);
    expect(stderr.trim().split('\n')).toHaveLength(4);
  });
});

describe('a port in use', () => {
  it('ends the SUT node with the address in the message', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    const listen = `127.0.0.1:${port}`;
    const { code, stderr } = await longhaul(['sut', '--benchmark', 'digits', '--listen', listen]);
    server.close();
    expect(code).toBe(6);
    expect(stderr).toContain(listen);
    expect(stderr).toMatch(/in use/);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('longhaul config', () => {
  const path = file('good.yaml', 'run:\n  sut: [a:1, b:2]\n  targetQps: 50\nsut:\n  node: sut-a\n');

  it('prints effective settings of both halves with their sources', async () => {
    const { code, stdout } = await longhaulHere(['config', 'show', '--config', path]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`targetQps: 50 +# ${path}:3:3`));
    expect(stdout).toMatch(new RegExp(`node: sut-a +# ${path}:5:3`));
    expect(stdout).toMatch(/minDuration: 10s +# default/);
  });

  it("takes a verb's flags, which win over the file", async () => {
    const args = ['config', 'show', 'run', '--config', path, '--target-qps', '70'];
    const { code, stdout } = await longhaulHere(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/targetQps: 70 +# flag --target-qps/);
    expect(stdout).not.toContain('sut:\n  node');
    const json = await longhaulHere([...args, '--json']);
    expect(JSON.parse(json.stdout).run).toContainEqual({
      key: 'targetQps',
      value: 70,
      source: 'flag --target-qps',
    });
  });

  it('fails when a value is wrong', async () => {
    const bad = file('bad.yaml', 'run:\n  scenario: Fast\n');
    const { code, stderr } = await longhaulHere(['config', 'show', '--config', bad]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${bad}:2:3: scenario: "Fast" must be one of`);
  });

  it('writes a file that both halves take as it is', async () => {
    const output = join(folder, 'starter.yaml');
    const init = ['config', 'init', '--output', output, '--benchmark'];
    for (const benchmark of BENCHMARK_KEYS) {
      expect(await longhaulHere([...init, benchmark, '--force'])).toMatchObject({ code: 0 });
      const shown = await longhaulHere(['config', 'show', '--config', output, '--json']);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      const { run } = JSON.parse(shown.stdout);
      expect(run).toContainEqual(expect.objectContaining({ key: 'benchmark', value: benchmark }));
    }
    expect(await longhaulHere([...init, 'digits'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('--force replaces it'),
    });
  });
});

describe('longhaul version', () => {
  it('names the build and what it runs on', async () => {
    const { code, stdout } = await longhaulHere(['version', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      components: expect.arrayContaining([{ name: 'node', version: process.versions.node }]),
    });
  });
});

describe('completion in bash', () => {
  const script = join(folder, 'longhaul.bash');
  /** Words that a TAB behind these words offers. */
  function offered(...words: string[]): string[] {
    const ask = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _longhaul; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', ask, 'bash', 'longhaul', ...words], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  }

  it.each([
    ['verbs', ['find'], ['find-peak']],
    ['verbs below a verb', ['probe', ''], ['name', 'health']],
    ['flags', ['run', '--target-l'], ['--target-latency', '--target-latency-percentile']],
    ['words of a flag', ['run', '--scenario', 'S'], ['SingleStream', 'Server']],
    ['benchmarks', ['sut', '--benchmark', 'dig'], ['digits']],
    ['benchmarks of nodes', ['sut', '--benchmark', 'llama'], ['llama2-70b']],
    [
      'benchmarks of runs',
      ['run', '--benchmark', 'llama'],
      ['llama2-70b', 'llama2-70b-interactive'],
    ],
    ['no word where a file belongs', ['report', ''], []],
  ])('offers %s', async (_case, words, found) => {
    const { code, stdout } = await longhaulHere(['config', 'completion', 'bash']);
    expect(code).toBe(0);
    writeFileSync(script, stdout);
    expect(offered(...words)).toEqual(found);
  });
});
