import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readAccuracyLog } from '../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import { scoreResponses } from '../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import { truncateTree } from '../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { readTree, suiteFolder } from '../../scenes/host/folders.ts';
import { labelOf, simulateRun } from '../../scenes/simulated-run/simulated-run.ts';
import { buildScene } from '../../scenes/submission-tree/built-tree.ts';
import { describeOfficial, OfficialTools } from './official-tools.ts';

// Goal: accuracy.txt and truncated logs are, to the byte, what the official scripts make of the
// same logs. Method: a simulated accuracy run over 50,000 labels of which some are wrong; a tree,
// truncated by both.
const TOTAL = 50_000;
const TAG = 'v4.1';

describeOfficial('the scripts of the tag', () => {
  it('accuracy-imagenet.py prints our line', async () => {
    const folder = suiteFolder();
    const run = join(folder, 'run');
    await simulateRun({
      folder: run,
      flags: { scenario: 'Offline', mode: 'accuracy', round: TAG },
      totalSamples: TOTAL,
      facts: () => null,
    });
    const labels = Uint16Array.from({ length: TOTAL }, (_, i) =>
      i % 4 === 0 ? (labelOf(i) + 1) % 1000 : labelOf(i),
    );
    const valMap = join(folder, 'val_map.txt');
    writeFileSync(valMap, Array.from(labels, (label, i) => `${i}.JPEG ${label}\n`).join(''));
    const log = join(run, 'mlperf_log_accuracy.json');
    const entries = [];
    for await (const entry of readAccuracyLog(log)) entries.push(entry);
    const script = 'vision/classification_and_detection/tools/accuracy-imagenet.py';
    const tools = new OfficialTools(TAG, join(folder, 'tools'), [script]);
    const args = ['--mlperf-accuracy-file', log, '--imagenet-val-file', valMap];
    const { output } = tools.run(script, [...args, '--dtype', 'float32'], folder);
    const { scriptLine } = await scoreResponses(entries, labels, 'top-1');
    expect(output.trim()).toBe(scriptLine);
  });

  it('truncate_accuracy_log.py leaves the tree that our truncation leaves', async () => {
    const folder = suiteFolder();
    const { tree } = await buildScene({ folder: join(folder, 'scene'), round: TAG });
    const theirs = join(folder, 'theirs');
    cpSync(tree, theirs, { recursive: true });
    const { problems } = await truncateTree({ tree, round: TAG, backup: join(folder, 'ours') });
    expect(problems).toEqual([]);
    const script = 'tools/submission/truncate_accuracy_log.py';
    const tools = new OfficialTools(TAG, join(folder, 'tools'), [script]);
    const args = ['--input', theirs, '--submitter', 'ACME', '--backup', join(folder, 'originals')];
    const { code, output } = tools.run(script, args, folder);
    expect(code, output).toBe(0);
    expect(readTree(tree)).toEqual(readTree(theirs));
    const name = join(tree, 'network/ACME/results/acme-2n/resnet50/Offline/accuracy/accuracy.txt');
    expect(readFileSync(name, 'utf8')).toMatch(/^hash=[0-9a-f]{64}$/m);
  });
});
