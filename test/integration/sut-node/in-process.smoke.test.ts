import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import type { RunReport } from '../../../loadgen-node/run/keep/run-report.ts';
import { planRun, type RunPlan } from '../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { type PreparedRun, prepareData } from '../../../loadgen-node/run/prepare/prepare-run.ts';
import { inProcessSut, loadInProcessNode } from '../../../loadgen-node/run/run-sut.ts';
import { measureSut, performRun } from '../../../loadgen-node/run/session.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import type { InProcessNode } from '../../../shared/domain/in-process-node.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { SILENT_HOST } from '../../scenes/simulated-run/simulated-run.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: the model in LoadGen's own process answers as the same model behind gRPC does, and nobody
// takes its runs for those of a network. Method: digits, every image once, both ways.
const PREPARE_TIMEOUT_MS = 120_000;
const cacheDir = testCacheFolder();
let node: InProcessNode;

beforeAll(async () => {
  const flags = { benchmark: 'digits', batchSizeMax: '8', cacheDir };
  node = await loadInProcessNode({ flags, file: undefined }, SILENT_HOST);
}, PREPARE_TIMEOUT_MS);

afterAll(() => node.stop());

function plan(sut: string, flags: Record<string, string>): RunPlan {
  const all = { benchmark: 'digits', sut, output: suiteFolder(), cacheDir, ...flags };
  return planRun(
    resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags: all }).values,
  );
}

async function measureInside(prepared: PreparedRun): Promise<RunReport> {
  const sut = inProcessSut(node, prepared);
  return await measureSut(prepared.plan, prepared, sut, SILENT_HOST);
}

/** Responses by sample, as they were logged. */
function responsesIn(folder: string): Map<number, string> {
  const text = readFileSync(join(folder, RUN_FILES.accuracy), 'utf8');
  const entries = JSON.parse(text) as { qsl_idx: number; data: string }[];
  return new Map(entries.map(({ qsl_idx: index, data }) => [index, data]));
}

describe('digits in process', () => {
  it('answers each image as the same model behind a network does', async () => {
    const accuracy = { scenario: 'Offline', mode: 'accuracy', targetQps: '100', dataCount: '100' };
    const served = await startTestNode();
    const network = await performRun(plan(served.address, accuracy), SILENT_HOST);
    const alone = plan('127.0.0.1:1', accuracy);
    const prepared = await prepareData(alone, SILENT_HOST);
    const { outcome } = await measureInside(prepared);
    expect(outcome.verdicts.longhaul).toEqual({ isValid: true, reasons: [], cause: null });
    const responses = responsesIn(alone.output);
    expect(responses.size).toBe(prepared.dataSet.totalSampleCount);
    expect(responses).toEqual(responsesIn(network.plan.output));
  });

  it('measures one query after the other, tells its times, and marks its logs', async () => {
    const streamed = plan('127.0.0.1:1', {
      scenario: 'SingleStream',
      minDuration: '1ms',
      minQueryCount: '100',
    });
    const prepared = await prepareData(streamed, SILENT_HOST);
    const { outcome, records } = await measureInside(prepared);
    expect(outcome.sutName).toContain('no network');
    expect(outcome.sutName).not.toContain('Network SUT');
    expect(outcome.performance?.counts.completedSamples).toBe(
      outcome.performance?.counts.issuedSamples,
    );
    expect(records?.service.computeNs.every((ns) => ns > 0)).toBe(true);
    expect(readRunLogs(streamed.output).summary).toContain(
      'no result of the Network or the closed division',
    );
    expect(node.configuration).toMatch(/^digits\/longhaul-digits-example\/cpu-w1t1b8\//);
  });
});
