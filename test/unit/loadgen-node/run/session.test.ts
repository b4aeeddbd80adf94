import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_FILES } from '../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { NullSut } from '../../../../loadgen-node/operate/doctor/generator-ceiling.ts';
import { planRun, type RunPlan } from '../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../loadgen-node/run/plan/run-settings.ts';
import { type PreparedRun, prepareData } from '../../../../loadgen-node/run/prepare/prepare-run.ts';
import { programSut, type RunSut } from '../../../../loadgen-node/run/run-sut.ts';
import { measureSut, probe } from '../../../../loadgen-node/run/session.ts';
import { resolveSettings } from '../../../../shared/config/resolve-settings.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';
import { SILENT_HOST } from '../../../scenes/simulated-run/simulated-run.ts';

// Goal: however a run ends, its SUT is stopped once and its folder holds nothing of an earlier run
// beside its own files. Method: a SUT in this process that answers at once, or fails at one step; a
// folder in which an earlier result lies.

/** Counts how often it is stopped. */
class CountedSut extends NullSut {
  stopCount = 0;

  override async stop(): Promise<void> {
    this.stopCount += 1;
    await super.stop();
  }
}

interface Scene {
  readonly prepared: PreparedRun;
  readonly plan: RunPlan;
  readonly sut: CountedSut;
  readonly runSut: RunSut;
  /** Names of the files in the run's folder. */
  files(): string[];
}

async function scene(): Promise<Scene> {
  const output = tempFolder();
  writeFileSync(join(output, RUN_FILES.summary), 'an earlier result\n');
  writeFileSync(join(output, RUN_FILES.record), 'an earlier record\n');
  const flags = {
    ...{ benchmark: 'null', sut: '127.0.0.1:1', scenario: 'Server', output },
    ...{ targetQps: '1000', minDuration: '10ms', minQueryCount: '20', cacheDir: output },
    sampleBytes: '16',
  };
  const { values } = resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags });
  const plan = planRun(values, { said: new Set(Object.keys(flags)) });
  const prepared = await prepareData(plan, SILENT_HOST);
  const sut = new CountedSut();
  const files = (): string[] => readdirSync(output).sort();
  return { prepared, plan, sut, runSut: programSut(sut, prepared), files };
}

function earlierSummary({ plan }: Scene): string {
  return readFileSync(join(plan.output, RUN_FILES.summary), 'utf8');
}

describe('a run of a SUT without nodes', () => {
  it("leaves LoadGen's logs alone, and nothing of the earlier result", async () => {
    const { plan, prepared, runSut, sut, files } = await scene();
    const report = await measureSut(plan, prepared, runSut, SILENT_HOST);
    const { counts } = report.outcome.performance ?? {};
    expect(counts).toMatchObject({ completedQueries: 20, lostSamples: 0 });
    expect([report.summary, report.audit, report.problems]).toEqual([null, null, []]);
    expect(report.figures.completed_qps).toBeGreaterThan(0);
    expect(files().filter((name) => !name.startsWith('mlperf_log_'))).toEqual([]);
    expect(files()).toContain(RUN_FILES.summary);
    expect(sut.stopCount).toBe(1);
  });

  it('tells its observers when it begins, and how it goes on', async () => {
    const { plan, prepared, runSut } = await scene();
    const seen: string[] = [];
    await measureSut(plan, prepared, runSut, SILENT_HOST, {
      onBegin: () => seen.push('begin'),
      onPhase: (phase) => seen.push(phase),
      onSet: () => seen.push('set'),
    });
    expect(seen).toEqual(['begin', 'name', 'start', 'performance', 'set', 'judge']);
  });
});

describe('how long a run is', () => {
  it('is told when nothing refuses it any more', async () => {
    const { plan: base, prepared, runSut } = await scene();
    const plan = { ...base, lengthNote: 'a run takes 15 hours' };
    const told: string[] = [];
    const host = { ...SILENT_HOST, report: (text: string) => told.push(text) };
    const onBegin = () => told.push('begin');
    const ready = () => Promise.reject(new Error('not there'));
    await expect(measureSut(plan, prepared, { ...runSut, ready }, host)).rejects.toThrow();
    expect(told).toEqual([]);
    await measureSut(plan, prepared, runSut, host, { onBegin });
    expect(told.slice(-2)).toEqual(['begin', 'longhaul: a run takes 15 hours']);
  });
});

describe('a run that does not begin', () => {
  it('keeps the earlier result where the SUT does not become ready', async () => {
    const made = await scene();
    const runSut = { ...made.runSut, ready: () => Promise.reject(new Error('not there')) };
    const measuring = measureSut(made.plan, made.prepared, runSut, SILENT_HOST);
    await expect(measuring).rejects.toThrow('not there');
    expect(earlierSummary(made)).toBe('an earlier result\n');
    expect(made.sut.stopCount).toBe(1);
  });

  it('keeps it where its lanes leave samples out, before anything is prepared', async () => {
    const made = await scene();
    const lanes = made.plan.lanes.map((lane) => ({ ...lane, samples: { first: 1, end: 3 } }));
    const preparing = prepareData({ ...made.plan, lanes }, SILENT_HOST);
    await expect(preparing).rejects.toThrow('lanes: samples 0 to before 1 are in no lane; ');
    expect(earlierSummary(made)).toBe('an earlier result\n');
  });

  it('keeps it where the host gives up while it waits', async () => {
    const made = await scene();
    const host = { ...SILENT_HOST, signal: AbortSignal.abort(new Error('given up')) };
    const runSut = { ...made.runSut, ready: () => new Promise<void>(() => {}) };
    const measuring = measureSut(made.plan, made.prepared, runSut, host);
    await expect(measuring).rejects.toThrow('given up');
    expect(earlierSummary(made)).toBe('an earlier result\n');
    expect(made.sut.stopCount).toBe(1);
  });

  it('stops the SUT where its folder cannot be begun', async () => {
    const { plan, prepared, runSut, sut, files } = await scene();
    const onBegin = (): void => {
      throw new Error('the disk is full');
    };
    const measuring = measureSut(plan, prepared, runSut, SILENT_HOST, { onBegin });
    await expect(measuring).rejects.toThrow('the disk is full');
    expect(files()).toEqual([]);
    expect(sut.stopCount).toBe(1);
  });
});

it('says in its logs that it broke off, and why', async () => {
  const { plan, prepared, runSut, sut } = await scene();
  sut.start = () => Promise.reject(new Error('the model is gone'));
  await expect(measureSut(plan, prepared, runSut, SILENT_HOST)).rejects.toThrow(
    'the model is gone',
  );
  const summary = readFileSync(join(plan.output, RUN_FILES.summary), 'utf8');
  expect(summary).toContain('INCOMPLETE: the test broke off: the model is gone');
  expect(existsSync(join(plan.output, RUN_FILES.record))).toBe(false);
  expect(sut.stopCount).toBe(1);
});

describe('a probe', () => {
  it.each([
    [true, true],
    [false, false],
  ])('that keeps its logs: %s, leaves a folder: %s', async (keepsLogs, hasFolder) => {
    const { plan: base, prepared, runSut, sut } = await scene();
    const plan = { ...base, output: join(base.output, '.probe') };
    let latencies = 0;
    const look = {
      ...{ name: 'probe 1', keepsLogs },
      onSet: ({ recorder }: { recorder: { completedQueryLatenciesNs(): Float64Array } }): void => {
        latencies += recorder.completedQueryLatenciesNs().length;
      },
    };
    const outcome = await probe(plan, prepared.store, runSut, SILENT_HOST, look);
    expect(latencies).toBe(outcome.performance?.counts.completedQueries);
    expect(existsSync(plan.output)).toBe(hasFolder);
    expect(sut.stopCount).toBe(1);
  });

  it('of a SUT that tells no tokens under bounds on tokens ends with what it lacks', async () => {
    const { plan: base, prepared, runSut, sut } = await scene();
    const settings = { ...base.settings, useTokenLatencies: true };
    const plan = { ...base, settings, output: join(base.output, '.probe') };
    const look = { name: 'probe 1', keepsLogs: false, onSet: () => {} };
    await expect(probe(plan, prepared.store, runSut, SILENT_HOST, look)).rejects.toThrow(
      /broke the contract \d+ times? with its responses in a probe: it reported no tokens/,
    );
    expect(sut.stopCount).toBe(1);
  });
});
