import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: object detection from the data set to its mAP, as a person uses it: images drawn, model
// made, served, measured and scored, in each form on the wire. Method: real processes, six images;
// the mAP is compared with a second scoring of the log.

const cache = ['--cache-dir', testCacheFolder()];
const data = ['--benchmark', 'retinanet', '--data-dir', 'standin', '--data-count', '6', ...cache];
let node: SutNodeProcess;

beforeAll(async () => {
  node = await SutNodeProcess.start('sut-det', [
    ...['--benchmark', 'retinanet', '--model', 'standin', ...cache],
  ]);
});

afterAll(() => node?.stop());

async function run(...flags: string[]) {
  const output = join(suiteFolder(), 'run');
  const ended = await longhaul([
    'run',
    '--sut',
    node.address,
    ...data,
    '--output',
    output,
    ...flags,
  ]);
  return { ...ended, output };
}

describe('retinanet', () => {
  it.each(['uint8', 'fp32', 'jpeg'])('scores an accuracy run with %s', async (encoding) => {
    const flags = ['--scenario', 'Offline', '--mode', 'accuracy', '--encoding', encoding];
    const { stdout, stderr, output } = await run(...flags);
    expect(stdout, stderr).toMatch(/^Accuracy +mAP \d\d\.\d{3} % \(6 samples\), target 73\.616 %/m);
    expect(readRunLogs(output).errors).toEqual([]);
    const written = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(written.slice(0, 12).every((line) => line.startsWith(' Average '))).toBe(true);
    expect(written[12]).toMatch(/^mAP=\d\d\.\d{3}%$/);
    expect(written.slice(13).join('\n')).toMatch(/note: .*stand-in/);
    const scored = await longhaul(['accuracy', output, ...cache]);
    expect(scored.stdout.split('\n').slice(0, 13)).toEqual(written.slice(0, 13));
  });

  it('measures files that the node decodes, each an inference of its own', async () => {
    const flags = ['--scenario', 'Server', '--target-qps', '2', '--target-latency', '20s'];
    const lengths = ['--min-duration', '1s', '--min-query-count', '4'];
    const { code, stderr, output } = await run(...flags, ...lengths, '--encoding', 'jpeg');
    // 3: so few queries are too few for early stopping.
    expect([0, 3], stderr).toContain(code);
    expect(readRunLogs(output).errors).toEqual([]);
    expect(readFileSync(join(output, 'network_audit.json'), 'utf8')).toContain('No batching');
  });

  it('scores a log with the annotations alone', async () => {
    const folder = 'test/golden/benchmarks/retinanet/a';
    const log = join(folder, 'mlperf_log_accuracy.json');
    const { stdout, code } = await longhaul([
      ...['accuracy', log, '--benchmark', 'retinanet', '--data-dir', folder],
    ]);
    expect(stdout).toContain('\nmAP=23.022%\n');
    // Below the target.
    expect(code).toBe(3);
  });
});
