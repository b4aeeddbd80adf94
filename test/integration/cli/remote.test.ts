import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { longhaulHere } from '../../support/process/longhaul-here.ts';
import { freePort } from '../../support/process/ports.ts';
import { suiteFolder } from '../../support/process/suite-folder.ts';

// Goal: `longhaul remote` starts a real node and a real LoadGen through a program called ssh, and brings the result here.
// Method: an ssh on PATH that runs the command of its last argument here, after a banner. test/deploy has real ones.

const folder = suiteFolder();
const before = process.env['PATH'];

const SSH = `#!/bin/sh
for word in "$@"; do
  case $word in refused) echo 'Connection refused' >&2; exit 255;; esac
done
for last in "$@"; do :; done
echo 'Welcome to this host'
exec sh -c "$last"
`;

beforeAll(() => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ssh'), SSH);
  chmodSync(join(bin, 'ssh'), 0o755);
  process.env['PATH'] = `${bin}${delimiter}${before}`;
});
afterAll(() => {
  process.env['PATH'] = before;
});

async function inventory(loadgen: string): Promise<string> {
  const path = join(folder, 'hosts.yaml');
  const text = `
command: ${fileURLToPath(compiledModule('loadgen-node/main.js'))}
folder: ${folder}/a host's $folder
loadgen: { ssh: ${loadgen} }
sut: [{ ssh: stand-in, node: sut-a, address: "127.0.0.1:${await freePort()}" }]
sutSettings: { benchmark: "null" }
run: { scenario: SingleStream, minDuration: 1s, records: none, report: none, generatorLagMax: 99 }
`;
  writeFileSync(path, text);
  return path;
}

describe('longhaul remote', () => {
  it('starts a node, runs LoadGen, fetches the result and stops both', async () => {
    const output = join(folder, 'out "put" $&');
    const path = await inventory('stand-in');
    const args = ['remote', '--inventory', path, 'run', '--json', '--output', `${output}/`];
    const { code, stdout, stderr } = await longhaulHere([...args, '--', '--min-query-count', '5']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const said = JSON.parse(stdout) as object;
    expect(said).toMatchObject({ exitCode: 0, output, run: { sutName: 'Network SUT: sut-a' } });
    expect(stderr).toMatch(/\[stand-in\] sut-a: drained/);
    const detail = readFileSync(join(output, 'mlperf_log_detail.txt'), 'utf8');
    expect(detail).toContain('"requested_min_query_count", "value": 5');
    expect(existsSync(join(output, 'nodes', 'sut-a', 'log'))).toBe(true);
    expect(readdirSync(output).filter((name) => name.startsWith('.'))).toEqual([]);
    // What the host keeps is the log of its node; nothing of LoadGen, no configuration, no state.
    const host = join(folder, "a host's $folder");
    expect(readdirSync(join(host, 'results'))).toEqual([]);
    expect(readdirSync(join(host, 'run'))).toEqual(['sut-a']);
    expect(readdirSync(join(host, 'run', 'sut-a'))).toEqual(['log']);
  });

  it('says in one line which host it cannot reach', async () => {
    const { code, stderr } = await longhaulHere([
      ...['remote', 'up', '--inventory', await inventory('refused')],
    ]);
    expect(code).toBe(6);
    expect(stderr).toMatch(/longhaul: refused: nothing listens on its ssh port/);
  });

  it('looks at hosts and stops nodes without the package that it once installed', async () => {
    const path = join(folder, 'gone.yaml');
    const sut = '[{ ssh: stand-in, node: sut-a, address: "127.0.0.1:50051" }]';
    const text = `package: gone.tgz
folder: ${folder}/empty
loadgen: { ssh: stand-in }
sut: ${sut}
sutSettings: { benchmark: "null" }
`;
    writeFileSync(path, text);
    const status = await longhaulHere(['remote', '--inventory', path, 'status']);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/nothing runs/) });
    expect(status.stdout).toMatch(/stand-in: .*, package installed or not: not known/);
    expect(status.stderr).toMatch(/the package is not known: package .*gone\.tgz cannot be read/);
    const down = await longhaulHere(['remote', '--inventory', path, 'down', '--json']);
    expect(down).toMatchObject({ code: 0 });
    expect(JSON.parse(down.stdout)).toMatchObject({ hosts: [{ isInstalled: null }] });
    const up = await longhaulHere(['remote', '--inventory', path, 'up']);
    expect(up).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/gone\.tgz cannot be read/),
    });
  });

  it('says what it would do, and does not do it', async () => {
    const path = await inventory('refused');
    const args = ['remote', '--inventory', path, 'run', '--dry-run'];
    const { code, stdout } = await longhaulHere(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/reach it by ssh refused/);
    expect(stdout).toMatch(
      /start sut-a: null, listening on 127\.0\.0\.1:\d+; wait until it is ready/,
    );
  });

  it.each([
    [['remote'], /say what to do: up, run, status or down/],
    [['remote', 'up'], /--inventory <file> is needed/],
    [['remote', 'run', '--inventory', 'none.yaml'], /cannot read none\.yaml/],
  ])('%j is a mistake of the command line', async (args, said) => {
    const { code, stderr } = await longhaulHere(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
  });

  it('has a flag of the run checked before any host is touched', async () => {
    const path = await inventory('refused');
    const args = ['remote', '--inventory', path, 'run', '--', '--target-qsp', '5'];
    const { code, stderr } = await longhaulHere(args);
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toMatch(/--target-qsp.*--target-qps/);
  });
});
