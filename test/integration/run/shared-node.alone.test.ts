import { expect, it, onTestFinished } from 'vitest';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';

// Goal: two LoadGens that use one node each learn of the other, with its samples; a LoadGen alone
// learns of nobody. Method: a real node and real runs, of which a short one begins and ends while a
// long one goes on.

it('tells each of two LoadGens on one node how many samples of the other it answered', async () => {
  const cache = ['--cache-dir', testCacheFolder()];
  // The last one counts.
  const node = await SutNodeProcess.start('sut-a', ['--benchmark', 'delay', ...cache]);
  onTestFinished(async () => {
    await node.stop();
  });
  const begin = (seconds: number) => {
    const output = suiteFolder();
    const process = spawnLonghaul([
      ...['run', '--sut', node.address, '--benchmark', 'delay', '--sample-bytes', '16'],
      ...['--target-qps', '50', '--target-latency', '10s', '--min-query-count', '1'],
      ...['--min-duration', `${seconds}s`, '--output', output, ...cache],
    ]);
    return { process, output };
  };
  const endOf = async ({ process, output }: ReturnType<typeof begin>) => {
    const { stdout } = await process.ended;
    const [{ ours, theirs } = { ours: undefined, theirs: undefined }] = readAudit(output).nodes;
    return { ours, theirs, text: stdout.replaceAll(/\s+/g, ' ') };
  };
  const long = begin(600);
  await long.process.says(/performance run: /);
  const short = await endOf(begin(2));
  // It lasts as long as the other, however slow this machine is.
  long.process.kill('SIGINT');
  const { ours, theirs, text } = await endOf(long);
  expect(theirs).toMatchObject({
    otherSampleCount: short.ours?.completedCount,
    otherAddresses: ['127.0.0.1'],
  });
  expect(text).toContain(
    `SUT node ${node.address} answered ${short.ours?.completedCount} samples of others meanwhile, among them a LoadGen at 127.0.0.1, beside ${ours?.completedCount} samples of this run`,
  );
  expect(short.theirs?.otherSampleCount).toBeGreaterThan(0);
  expect(short.text).toContain('of others meanwhile, among them a LoadGen at 127.0.0.1');
  const alone = await endOf(begin(1));
  expect(alone.theirs).toMatchObject({ otherSampleCount: 0, otherAddresses: [] });
  expect(alone.text).not.toContain('another LoadGen');
}, 120_000);
