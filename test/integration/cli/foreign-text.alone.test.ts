import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { ceilingBasis, writeCeiling } from '../../../loadgen-node/observe/health/ceiling-file.ts';
import { asPlainText } from '../../../shared/base/text.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import { ECHO_MODEL, fakeOipServers } from '../../scenes/oip-server/fake-oip-server.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: no verb gives a terminal, or a page, the escape sequences of a file, a peer or a name.
// Method: the compiled command line over a run whose files hold them, servers that answer with
// them, arguments that have them.

/** C0 with ESC, CSI and BEL, DEL, a CSI of C1, a mark of direction. */
const EVIL = '\u001b[31mRED\u001b]0;title\u0007\u007f\u009b1m\u202etxt';
/** What a name of a file can have of it. */
const EVIL_NAME = `run${EVIL}`;
const SHORT = ['--scenario', 'SingleStream', '--min-duration', '0s', '--min-query-count', '64'];

/** Both streams of a verb hold nothing that steers a terminal, and some of the foreign text. */
async function expectPlain(args: readonly string[], shown = 'RED'): Promise<void> {
  const { stdout, stderr } = await longhaulHere(args);
  expect(stdout + stderr).toBe(asPlainText(stdout + stderr));
  expect(stdout + stderr).toContain(shown);
}

/**
 * A folder with a run whose files hold foreign text, a copy of it with such a name, and LoadGen's
 * logs alone.
 */
async function spoiledRuns(): Promise<string> {
  const runs = tempFolder();
  const { address } = await startTestNode({ benchmark: 'null' });
  const first = join(runs, 'first');
  const { code } = await longhaulHere(['run', '--sut', address, ...SHORT, '--output', first]);
  expect(code).toBe(0);
  const summary = join(first, 'longhaul_summary.json');
  const told = JSON.parse(readFileSync(summary, 'utf8')) as Record<string, unknown>;
  writeFileSync(summary, JSON.stringify({ ...told, sutName: EVIL, notes: [EVIL] }));
  const text = join(first, 'mlperf_log_summary.txt');
  const lines = readFileSync(text, 'utf8');
  writeFileSync(text, lines.replace(/^SUT name : .*$/m, `SUT name : ${EVIL}`));
  cpSync(first, join(runs, EVIL_NAME), { recursive: true });
  mkdirSync(join(runs, 'alone'));
  cpSync(text, join(runs, 'alone/mlperf_log_summary.txt'));
  cpSync(join(first, 'mlperf_log_detail.txt'), join(runs, 'alone/mlperf_log_detail.txt'));
  return runs;
}

describe('text of others reaches no terminal raw', () => {
  it('from the files of a run and the names of folders', async () => {
    const runs = await spoiledRuns();
    const [first, evil, alone] = ['first', EVIL_NAME, 'alone'].map((name) => join(runs, name));
    const verbs = [
      ['report', alone],
      ['report', first],
      ['report', first, '--json'],
      ['report', evil],
      ['compare', first, evil],
      ['runs', runs],
      ['runs', runs, '--json'],
      ['submission', 'check', evil],
      ['accuracy', evil],
    ] as readonly string[][];
    for (const args of verbs) await expectPlain(args);
    await expectPlain(['audit', evil ?? ''], 'SUT node');
    const page = join(runs, 'page.html');
    await expectPlain(['report', first ?? '', '--html', page]);
    expect(readFileSync(page, 'utf8')).toBe(asPlainText(readFileSync(page, 'utf8')));
  });

  it.each([
    ['a folder that is not there', ['report', `none${EVIL}`]],
    ['an address', ['run', '--benchmark', 'null', '--sut', EVIL]],
    ['an address of JSON output', ['run', '--benchmark', 'null', '--sut', EVIL, '--json']],
    ['a benchmark', ['run', '--sut', 'a:1', '--benchmark', EVIL]],
    ['a verb', [EVIL]],
    ['a flag', ['run', `--${EVIL}`]],
    ['a server', ['probe', EVIL]],
  ])('from %s', async (_case, args) => {
    await expectPlain(args);
  });

  it('from what a server of the Open Inference Protocol says', async () => {
    const model = {
      ...ECHO_MODEL,
      platform: EVIL,
      outputs: [{ name: EVIL, datatype: 'FP32', shape: [-1, 2] }],
    };
    const [{ address }] = await fakeOipServers({
      model,
      server: { name: 'server', version: EVIL, extensions: [EVIL] },
      unknownModel: { code: status.INTERNAL, details: EVIL },
      onInfer: (_, answer) => answer.refuse(status.INTERNAL, EVIL),
    });
    const sut = `oip://${address}`;
    await expectPlain(['probe', sut, '--model', 'echo']);
    await expectPlain(['probe', sut, '--model', 'other']);
    await expectPlain(['run', '--sut', sut, '--model', 'echo', '--data', 'random', ...SHORT]);
  });

  it('from what a node says of itself', async () => {
    const says = {
      Describe: { software: EVIL, settings: { [EVIL]: EVIL } },
      Model: { model: EVIL, benchmark: 'null' },
    };
    const [{ address }] = await fakeSutNodes({ says });
    const cacheDir = tempFolder();
    const measuredAt = '2026-01-31T12:00:00.000Z';
    const ceiling = { measuredAt, measuredOn: ceilingBasis(), inProcessQps: 1e6, loopbackQps: 1e5 };
    writeCeiling(cacheDir, ceiling);
    const asked = ['--sut', address, '--cache-dir', cacheDir, '--link-test-time', '10ms'];
    await expectPlain(['doctor', ...asked]);
  });

  it('from the name of a node, on the screen and in the files of its run', async () => {
    const { address } = await startTestNode({ benchmark: 'null', node: 'sut\u202e' });
    const output = join(tempFolder(), 'run');
    await expectPlain(['run', '--sut', address, ...SHORT, '--output', output], 'sut\ufffd');
    for (const name of readdirSync(output).filter((one) => !one.endsWith('.arrow'))) {
      const text = readFileSync(join(output, name), 'utf8');
      expect(`${name}: ${text}`).toBe(`${name}: ${asPlainText(text)}`);
    }
  });
});
