import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { FakeSutNode } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: TEST06 finds a SUT that pads its answers with end tokens, streams another first token than
// it answers with, or counts otherwise than it answers; of these, LoadGen itself sees none. Method:
// a node of the .proto file alone that is honest in the submission's run and lies in the test's,
// over the wire.

const END = 2;
const HONEST = { first: 700, tokens: [700, 701, 702, END], count: 4 };
const nodes: FakeSutNode[] = [];
const run = join(suiteFolder(), 'run');

/** A node that says the same of every sample. */
async function nodeThatSays(says: typeof HONEST, benchmark = 'llama2-70b'): Promise<FakeSutNode> {
  const node = await FakeSutNode.start({
    benchmark,
    says: { Model: { encodings: [{ form: 'ids', compression: 'identity' }] } },
    onPart: (own, { samples }) =>
      own.generate(
        samples.map(({ id }) => id),
        says,
      ),
  });
  nodes.push(node);
  return node;
}

beforeAll(async () => {
  const node = await nodeThatSays(HONEST);
  const { stderr, stdout, code } = await longhaul([
    ...['run', '--sut', node.address, '--benchmark', 'llama2-70b', '--data-dir', 'standin'],
    ...['--scenario', 'Server', '--target-qps', '300', '--min-duration', '1s', '--output', run],
    ...['--min-query-count', '500', '--generator-lag-max', '99'],
  ]);
  expect(code, stdout + stderr).toBe(0);
});

afterAll(() => {
  for (const node of nodes) node.stop();
});

describe('TEST06 over the wire', () => {
  it.each([
    ['an honest node', HONEST, undefined, 0],
    ['two end tokens', { ...HONEST, tokens: [700, 701, END, END] }, 'EOS check pass', 3],
    ['another first token', { ...HONEST, first: 699 }, 'First token check pass', 3],
    ['a token too many in the count', { ...HONEST, count: 5 }, 'Sample length check pass', 3],
    ['no end token in the answer', { ...HONEST, tokens: [700, 701, 702] }, 'Sample length', 3],
  ])('judges %s', async (_, lie, failed, exit) => {
    const { address } = await nodeThatSays(lie);
    const output = join(suiteFolder(), 'test06');
    const { stdout, stderr, code } = await longhaul([
      ...['compliance', 'TEST06', '--run', run, '--sut', address, '--output', output],
      ...['--model', 'llama2-70b-99'],
    ]);
    expect(code, stdout + stderr).toBe(exit);
    const lines = readFileSync(join(output, 'TEST06', 'verify_accuracy.txt'), 'utf8').split('\n');
    const wrong = lines.filter((line) => line.endsWith('False'));
    expect(wrong).toEqual(failed === undefined ? [] : [expect.stringContaining(failed)]);
    expect(lines).toContain(`TEST06 verification ${exit === 0 ? 'complete' : 'failed'}`);
  });
});

describe('TEST06 of gptj, which counts no tokens by mlperf.conf', () => {
  const gptj = join(suiteFolder(), 'gptj');
  const END_OF_GPTJ = 50_256;
  const pad = { first: 700, tokens: [700, 701, END_OF_GPTJ, END_OF_GPTJ], count: 4 };
  const userConf = join(suiteFolder(), 'user.conf');

  it('asks for tokens by user.conf, and knows the end token', async () => {
    const { address } = await nodeThatSays(pad, 'gptj');
    const { stderr, stdout, code } = await longhaul([
      ...['run', '--sut', address, '--benchmark', 'gptj', '--data-dir', 'standin'],
      ...['--round', 'v5.0', '--scenario', 'Server', '--target-qps', '300', '--output', gptj],
      ...['--min-duration', '1s', '--min-query-count', '500', '--generator-lag-max', '99'],
      // Not that of the test, which is about tokens.
      ...['--target-latency', '10s'],
    ]);
    expect(code, stdout + stderr).toBe(0);
    const test = async (says: typeof HONEST, ...flags: readonly string[]) => {
      const { address: own } = await nodeThatSays(says, 'gptj');
      const model = ['--model', 'gptj-99', '--output', join(suiteFolder(), 'of-gptj')];
      return await longhaul([
        ...['compliance', 'TEST06', '--run', gptj, '--sut', own, ...model, ...flags],
      ]);
    };
    const refused = await test(pad);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      '--user-conf FILE with the line gptj.*.use_token_latencies = 1',
    );
    writeFileSync(userConf, 'gptj.*.use_token_latencies = 1\n');
    const padded = await test(pad, '--user-conf', userConf);
    expect(padded.stdout, padded.stderr).toContain('ends with more than one end token');
    expect(padded.code).toBe(3);
    const good = { ...pad, tokens: [700, 701, 702, END_OF_GPTJ] };
    const passed = await test(good, '--user-conf', userConf);
    expect(passed.code, passed.stdout + passed.stderr).toBe(0);
  });
});
