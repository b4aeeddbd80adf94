import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: the two SSD of round v0.5 from the data set to their mAP, as a person uses them: images
// drawn, model made, served and scored, in each form on the wire. Method: real processes, six
// images; the mAP is compared with a second scoring of the log.

const cache = ['--cache-dir', testCacheFolder()];

describe.each([
  { benchmark: 'ssd-mobilenet', encodings: ['uint8', 'jpeg'], target: '67.468' },
  { benchmark: 'ssd-resnet34', encodings: ['uint8', 'fp32', 'jpeg'], target: '73.755' },
])('$benchmark', ({ benchmark, encodings, target }) => {
  it('scores an accuracy run in each of its forms, and files in the open division only', async () => {
    const own = ['--benchmark', benchmark];
    const node = await SutNodeProcess.start('sut-ssd', [...own, '--model', 'standin', ...cache]);
    try {
      const run = (output: string, ...flags: string[]) =>
        longhaul([
          ...['run', '--sut', node.address, ...own, '--data-dir', 'standin', '--data-count', '6'],
          ...['--round', 'v0.5', '--scenario', 'Offline', '--mode', 'accuracy', ...cache],
          ...['--output', output, ...flags],
        ]);
      const refused = await run(join(suiteFolder(), 'refused'), '--encoding', 'jpeg');
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain('take uncropped uncompressed bitmap as inputs');
      for (const encoding of encodings) {
        const output = join(suiteFolder(), `run-${encoding}`);
        const { stdout, stderr } = await run(
          ...[output, '--encoding', encoding],
          ...(encoding === 'jpeg' ? ['--division', 'open'] : []),
        );
        expect(stdout, stderr).toMatch(/^Accuracy +mAP \d\d\.\d{3} % \(6 samples\)/m);
        expect(stdout).toContain(`target ${target} %`);
        expect(readRunLogs(output).errors).toEqual([]);
        const written = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
        expect(written[12]).toMatch(/^mAP=\d\d\.\d{3}%$/);
        const scored = await longhaul(['accuracy', output, ...cache]);
        expect(scored.stdout.split('\n').slice(0, 13)).toEqual(written.slice(0, 13));
      }
    } finally {
      await node.stop();
    }
  });
});
