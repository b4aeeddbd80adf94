import { afterAll, beforeAll, expect, it } from 'vitest';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { readSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, SutNodeProcess } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: a run over the Open Inference Protocol leaves what this end knows, and claims nothing of
// the other. Method: a real run against a real node, of which everything is read that it leaves.

const cache = ['--cache-dir', testCacheFolder()];
let node: SutNodeProcess;

beforeAll(async () => {
  node = await SutNodeProcess.start('sut-a', cache);
  await node.process.says(/is ready/);
});

afterAll(() => node.stop());

it('tells servers, statistics and limits of the evidence wherever a result stands', async () => {
  const output = suiteFolder();
  const { code, stdout } = await longhaulHere([
    ...['run', '--sut', `oip://${node.address}`, '--model', 'longhaul-digits-example'],
    ...['--benchmark', 'digits', '--data-dir', await smallDataSet(64), '--scenario', 'Offline'],
    ...['--target-qps', '200', '--min-duration', '1ms', '--output', output, ...cache],
  ]);
  expect({ code, stdout }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/Server +the server's own statistics: means over the run/);
  expect(stdout).toMatch(
    /per request: queue .*inference .* requests; \d+ inferences in \d+ batches/,
  );
  expect(stdout).toContain('the Open Inference Protocol has no ledger');

  const { run, server: requests, nodes, rules } = readAudit(output);
  const [seen] = nodes;
  expect([run.protocol, run.isComplete, requests?.service]).toEqual([
    ...['oip', true, 'inference.GRPCInferenceService'],
  ]);
  expect(seen).toMatchObject({ theirs: null, streams: [], server: { serverName: 'sut-a' } });
  expect(seen?.server?.requestCount).toBe(seen?.ours.partCount);
  expect(seen?.server?.statistics?.inferenceCount).toBe(seen?.ours.sampleCount);
  const verdictOf = (id: string) => rules.find((one) => one.id === id)?.verdict;
  expect(rules.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id)).toEqual([
    'separate-machines',
  ]);
  expect([verdictOf('no-batching'), verdictOf('both-ends-agree')]).toEqual([
    ...['holds', 'not-provable'],
  ]);

  const summary = readSummary(output);
  expect(summary).toMatchObject({
    protocol: 'oip',
    nodes: [{ model: 'longhaul-digits-example:1' }],
  });
  const { statistics } = summary?.nodes[0]?.server ?? {};
  expect(statistics?.successCount).toBe(seen?.server?.requestCount);
  expect(readRunLogs(output).value('longhaul_oip_server')).toMatchObject({ server: 'sut-a' });

  const audit = await longhaulHere(['audit', output]);
  expect(audit.code).toBe(3);
  expect(audit.stdout).toContain('For evidence of both ends run longhaul on the SUT node');
  const report = await longhaulHere(['report', output]);
  expect(report.stdout).toMatch(/Server +the server's own statistics/);
});
