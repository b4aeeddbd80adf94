import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { FakeSutNode } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: TEST06 finds a SUT that pads its answers with end tokens, streams another first token than it answers with, or counts otherwise
// than it answers; of these, LoadGen itself sees none. Method: a node of the .proto file alone that is honest in the submission's
// run and lies in the test's, over the wire.

const END = 2;
const HONEST = { first: 700, tokens: [700, 701, 702, END], count: 4 };
const nodes: FakeSutNode[] = [];
const run = join(suiteFolder(), 'run');

/** A node that says the same of every sample. */
async function nodeThatSays(says: typeof HONEST): Promise<FakeSutNode> {
  const node = await FakeSutNode.start({
    benchmark: 'llama2-70b',
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
    ...['--min-query-count', '500', '--generator-lag-max', '50'],
  ]);
  expect(code, stdout + stderr).toBe(0);
}, 60_000);

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
