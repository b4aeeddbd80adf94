import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { readSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { explainAudit } from '../../../loadgen-node/run/audit/explain-audit.ts';
import { CommandHost } from '../../../loadgen-node/run/host/host.ts';
import { planRun, type RunPlan } from '../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { performRuns } from '../../../loadgen-node/run/repeated-runs.ts';
import { addProtocol } from '../../../qdl/protocols/index.ts';
import { Terminal } from '../../../shared/base/process/terminal.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { LINES_PROTOCOL } from '../../scenes/toy-protocol/lines-protocol.ts';
import { LinesServer } from '../../scenes/toy-protocol/lines-server.ts';

// Goal: a protocol is added by a value and its folder: a whole run goes over one that no file of the program names.
// Method: lines of JSON over TCP, added to the list; two servers that send samples back, measured as `longhaul run` does.

const servers: LinesServer[] = [];
let takeOut = (): void => {};

beforeAll(async () => {
  takeOut = addProtocol(LINES_PROTOCOL);
  for (const name of ['lines-a', 'lines-b']) servers.push(await LinesServer.start(name));
});

afterAll(() => {
  for (const server of servers) server.stop();
  takeOut();
});

function plan(flags: Readonly<Record<string, string>>): RunPlan {
  const sut = servers.map(({ address }) => `lines://${address}`).join(',');
  const { values, settings } = resolveSettings(RUN_SETTINGS, {
    ...{ section: 'run', file: undefined },
    flags: { sut, benchmark: 'echo', sampleBytes: '64', targetQps: '200', ...flags },
  });
  return planRun(values, { asked: settings });
}

describe('a run over a protocol of the calling program', () => {
  it('has a verdict, an audit, logs and a summary', async () => {
    const output = join(suiteFolder(), 'run');
    const run = plan({
      ...{ scenario: 'Offline', minDuration: '1ms', minQueryCount: '200', output },
      cacheDir: testCacheFolder(),
    });
    const host = new CommandHost(undefined, new Terminal());
    const end = await performRuns(run, host, {
      live: undefined,
      tell: () => {},
      screen: { isVerbose: false },
    });
    expect(end.json).toMatchObject({ verdict: { isValid: true, reasons: [] } });
    expect(end.exitCode).toBe(0);
    for (const name of [RUN_FILES.summary, RUN_FILES.detail, RUN_FILES.audit]) {
      expect(existsSync(join(output, name)), name).toBe(true);
    }
    const audit = readAudit(output);
    expect(audit).toMatchObject({ run: { protocol: 'lines', isComplete: true }, server: null });
    expect(audit.nameCalls[0]?.name).toBe('Network SUT: lines-a, lines-b');
    const verdicts = new Map(audit.rules.map(({ id, verdict }) => [id, verdict]));
    const broken = [...verdicts].filter(([, verdict]) => verdict === 'broken');
    // Both ends are this machine.
    expect(broken.map(([id]) => id)).toEqual(['separate-machines']);
    expect(verdicts.get('both-ends-agree')).toBe('not-provable');
    const texts = audit.rules.map(({ rule }) => rule);
    expect(texts).toContain('Compression of messages by lines of JSON is off.');
    expect(texts.join()).not.toContain('gRPC');
    expect(explainAudit(audit)).toContain('Lines have no counts.');
    expect(readSummary(output)).toMatchObject({ protocol: 'lines', verdict: { isValid: true } });
  });

  it.each([
    ['digest', '5', '--digest 5 has no effect with lines://'],
    ['compression', 'lz4', '--compression lz4 has no effect with lines://'],
    [
      'model',
      'net',
      '--model is for servers of the Open Inference Protocol: --sut oip://127.0.0.1:',
    ],
  ])('refuses what it lacks: %s', (key, value, message) => {
    expect(() => plan({ [key]: value })).toThrow(message);
  });

  it('is one of a list of addresses, all of which have its scheme', () => {
    const sut = 'lines://a:1,b:1';
    expect(() => plan({ sut })).toThrow(/put lines:\/\/ before every address of the list/);
    expect(() => plan({ sut: 'lines:a:1' })).toThrow(/must be lines:\/\/host:port/);
  });
});
