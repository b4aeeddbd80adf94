import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planRun } from '../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { performRun } from '../../../loadgen-node/run/session.ts';
import { benchmark as digits } from '../../../loadgen-node/samples/benchmarks/digits/benchmark.ts';
import type { DataSet } from '../../../loadgen-node/samples/data-set/data-set.ts';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import { verifyTest04 } from '../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest01 } from '../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import { timerClock } from '../../../shared/base/clock.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { renderDigit } from '../../../shared/benchmarks/digits/draw-digit.ts';
import { encodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { EVALUATION_SET } from '../../../shared/rules/cards/digits.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import type { RunnableTestId } from '../../../shared/rules/rows/model-row.ts';
import type {
  Batch,
  SampleAnswer,
  SampleOwner,
  SutModel,
  WaitingSample,
} from '../../../sut-node/inference/batcher/sut-model.ts';
import { NO_MODEL } from '../../../sut-node/inference/built-in/immediate-model.ts';
import { deliverAnswers } from '../../../sut-node/inference/workers/batch-answers.ts';
import { type SutNode, startSutNode } from '../../../sut-node/sut-node.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { type Ended, longhaul } from '../../scenes/host/processes.ts';
import {
  acrossRuns,
  type Conduct,
  caches,
  honest,
  knowsByHeart,
  slacksOnRepeats,
  tiresOfRepeats,
} from '../../scenes/simulated-run/conduct.ts';
import { SILENT_HOST } from '../../scenes/simulated-run/simulated-run.ts';
import { TEST_SETTINGS } from '../../scenes/sut-node/sut-node.ts';

// Goal: over real gRPC, from real SUT nodes, the tests find who cheats, and let the honest pass.
// Method: nodes of digits whose model has a conduct, 6 ms for a sample that it really sees; a set
// of 60 images, and one of another seed. Runs wait for timers only, so many go at once.
const SERVICE_NS = 6e6;
const SET = { ...EVALUATION_SET, sampleCount: 60 };
const OTHER_SET = { seed: 77, sampleCount: 60 };

const labels = new Map<string, number>();
/** Payloads of the reference data set. */
const known = new Set<string>();

const nodes: SutNode[] = [];
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

function openSet(generated: typeof SET): Promise<DataSet> {
  const cacheFolder = testCacheFolder();
  return digits.openDataSet({
    ...{ dataFolder: undefined, cacheFolder, generated },
    onProgress: () => {},
  });
}

beforeAll(async () => {
  for (const set of [SET, OTHER_SET]) {
    const dataSet = await openSet(set);
    for (let i = 0; i < set.sampleCount; i += 1) {
      const key = payloadKey(await dataSet.readPayload(i, 'jpeg'));
      labels.set(key, renderDigit(set, i).label);
      if (set === SET) known.add(key);
    }
  }
});

/**
 * Address of a node whose model has the conduct. All have one name: to LoadGen they are one system.
 */
async function startNode(conduct: Conduct): Promise<string> {
  const hooks = { onProgress: () => {}, logger: silentLogger };
  const model = new ConductModel(conduct, labels);
  const node = await startSutNode({ ...TEST_SETTINGS, node: 'sut-a' }, hooks, { model });
  nodes.push(node);
  return node.address;
}

/** Runs LoadGen in this process over a node of its own. @returns Folder of the run. */
async function measure(
  conduct: Conduct,
  flags: Record<string, string> = {},
  audit?: RunnableTestId,
): Promise<string> {
  const folder = join(suiteFolder(), 'run');
  const { values, settings } = resolveSettings(RUN_SETTINGS, {
    ...{ section: 'run', file: undefined },
    flags: {
      ...{ benchmark: 'digits', sut: await startNode(conduct), scenario: 'Offline' },
      ...{ targetQps: '120', minDuration: '1ms', minQueryCount: '100', digest: '0' },
      ...{ dataCount: '60', cacheDir: testCacheFolder(), output: folder, ...flags },
    },
  });
  const text = audit === undefined ? undefined : auditConfigText(audit, 'digits', 'Offline');
  const plan = planRun(values, {
    audit: text === undefined ? undefined : { name: 'audit.config', text },
    asked: settings,
  });
  await performRun(plan, SILENT_HOST);
  return folder;
}

function runForAccuracy(conduct: Conduct, flags: Record<string, string> = {}): Promise<string> {
  return measure(conduct, { mode: 'accuracy', ...flags });
}

async function test01(performance: string, accuracy: string, test: string): Promise<TestVerdict> {
  const dataSet = await openSet(SET);
  return verifyTest01({
    ...{ round: 'v4.1', performance, accuracy, test, responseType: 'int32' },
    accuracyTolerancePercent: 1,
    scorer: { score: async (entries) => dataSet.scoreAccuracy(entries), marks: () => [] },
  });
}

/** Compares runs over two data sets, as docs/submit.md says. */
async function compareSpeed(base: string, other: string): Promise<Ended> {
  return longhaul(['compare', base, other, '--fail-if', 'completed_qps < -10%']);
}

async function compareAccuracy(base: string, other: string): Promise<Ended> {
  return longhaul(['compare', base, other, '--fail-if', 'accuracy < -1%']);
}

const failedChecks = ({ checks }: TestVerdict): string[] =>
  checks.filter(({ isMet }) => !isMet).map(({ name }) => name);

// Rates are held within 10 % of each other: a machine that stood still for 50 ms may try again.
it('an honest SUT node passes TEST01, TEST04 and a comparison with another data set', {
  retry: 3,
}, async () => {
  const conduct = honest(SERVICE_NS);
  const seed = { dataSeed: String(OTHER_SET.seed) };
  const [performance, accuracy, same, repeated, otherPerformance, otherAccuracy] =
    await Promise.all([
      measure(conduct),
      runForAccuracy(conduct),
      measure(conduct, {}, 'TEST01'),
      measure(conduct, {}, 'TEST04'),
      measure(conduct, seed),
      runForAccuracy(conduct, seed),
    ]);
  expect(failedChecks(await test01(performance, accuracy, same))).toEqual([]);
  const verdict = await verifyTest04({ round: 'v4.1', performance, test: repeated });
  expect(failedChecks(verdict)).toEqual([]);
  const [speed, right] = await Promise.all([
    compareSpeed(performance, otherPerformance),
    compareAccuracy(accuracy, otherAccuracy),
  ]);
  expect(speed.stdout).toContain('dataSeed: (not set) -> 77');
  expect([speed.code, right.code]).toEqual([0, 0]);
});

describe('a SUT node that cheats', () => {
  let keeping: TestVerdict;
  let tired: TestVerdict;
  let byHeart: Record<'speed' | 'right', Ended>;
  let slack: Ended;

  beforeAll(async () => {
    [keeping, tired, byHeart, slack] = await Promise.all([
      testKeeping(caches(SERVICE_NS)),
      testTired(acrossRuns(tiresOfRepeats(SERVICE_NS))),
      testByHeart(knowsByHeart(known, undefined, SERVICE_NS)),
      testSlack(slacksOnRepeats({}, SERVICE_NS)),
    ]);
  });

  async function testKeeping(conduct: Conduct): Promise<TestVerdict> {
    const [performance, test] = await Promise.all([
      measure(conduct),
      measure(conduct, {}, 'TEST04'),
    ]);
    return verifyTest04({ round: 'v4.1', performance, test });
  }

  /** Accuracy comes first: after that the node has seen every sample. */
  async function testTired(conduct: Conduct): Promise<TestVerdict> {
    const accuracy = await runForAccuracy(conduct);
    const [performance, test] = await Promise.all([
      measure(conduct),
      measure(conduct, {}, 'TEST01'),
    ]);
    return test01(performance, accuracy, test);
  }

  /** The command itself, of runs that are there: what it prints, and its exit code. */
  async function testSlack(conduct: Conduct): Promise<Ended> {
    const [performance, accuracy, test] = await Promise.all([
      measure(conduct),
      runForAccuracy(conduct),
      measure(conduct, {}, 'TEST01'),
    ]);
    const runs = ['--run', performance, '--accuracy-run', accuracy, '--test-run', test];
    return longhaul(['compliance', 'TEST01', ...runs]);
  }

  async function testByHeart(conduct: Conduct): Promise<Record<'speed' | 'right', Ended>> {
    const seed = { dataSeed: String(OTHER_SET.seed) };
    const [performance, accuracy, otherPerformance, otherAccuracy] = await Promise.all([
      measure(conduct),
      runForAccuracy(conduct),
      measure(conduct, seed),
      runForAccuracy(conduct, seed),
    ]);
    const [speed, right] = await Promise.all([
      compareSpeed(performance, otherPerformance),
      compareAccuracy(accuracy, otherAccuracy),
    ]);
    return { speed, right };
  }

  it('fails TEST04 if it keeps answers', () => {
    expect(keeping.isOfficialPass).toBe(false);
    expect(keeping.texts.get('verify_performance.txt')).toContain('TEST FAIL');
  });

  it('fails TEST01 if it answers anything in performance mode', () => {
    expect(tired.isOfficialPass).toBe(false);
    expect(failedChecks(tired)).toEqual(expect.arrayContaining(['responses', 'whole responses']));
  });

  it('fails TEST01 if it answers each sample rightly only once, with words beside the official verdict', () => {
    const { code, stdout } = slack;
    expect(stdout).toContain('met     responses (official)');
    expect(stdout).toContain('WARNING: the official script says TEST FAIL; only its fallback');
    expect(stdout).toContain('NOT MET whole responses (longhaul)');
    expect(stdout).toContain('NOT MET right answers (longhaul)');
    expect(stdout).toMatch(/^TEST01 failed: /m);
    expect(code).toBe(3);
  });

  it('is slower over another data set than over the one that it knows by heart', () => {
    const { speed, right } = byHeart;
    expect(speed.stdout).toContain('FAILED        --fail-if "completed_qps < -10%"');
    expect(speed.code).toBe(3);
    expect(right.stdout).toContain('Passed        --fail-if "accuracy < -1%"');
    expect(right.code).toBe(0);
  });
});

/** Key by which a conduct knows a payload. */
function payloadKey(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('hex');
}

/** A sample in service. */
interface Service {
  readonly sample: WaitingSample;
  readonly beginsAtNs: number;
  readonly endsAtNs: number;
  readonly payload: Uint8Array;
}

/**
 * A model of the benchmark digits with a conduct, in a real SUT node: one worker, which takes one
 * sample after the other. Each ends when its time is over, so a timer that is late makes no later
 * sample later.
 */
class ConductModel implements SutModel {
  readonly rules: BenchmarkRules = benchmarkRules('digits');
  readonly name = 'conduct';
  readonly compressions: SutModel['compressions'] = ['identity'];
  readonly sampleElements = 1;
  readonly hasIdle = true;
  readonly hasRoom = true;
  readonly #conduct: Conduct;
  readonly #labels: ReadonlyMap<string, number>;
  /** A stream is a run. */
  readonly #runs = new WeakMap<SampleOwner, ReturnType<Conduct>>();
  readonly #services: Service[] = [];
  #freeAtNs = 0;
  #isAwaited = false;
  #isStopped = false;

  /** @param labels Right answers by {@link payloadKey}. */
  constructor(conduct: Conduct, labels: ReadonlyMap<string, number>) {
    this.#conduct = conduct;
    this.#labels = labels;
  }

  load(): Promise<typeof NO_MODEL> {
    return Promise.resolve(NO_MODEL);
  }

  warmUp(): Promise<void> {
    return Promise.resolve();
  }

  run({ samples }: Batch): void {
    for (const sample of samples) this.#services.push(this.#serve(sample));
    this.#awaitNext();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return Promise.resolve();
  }

  #serve(sample: WaitingSample): Service {
    const key = payloadKey(Buffer.concat(sample.pieces));
    const treat = this.#runs.get(sample.owner) ?? this.#conduct();
    this.#runs.set(sample.owner, treat);
    const { serviceNs, isRight } = treat(key);
    const label = this.#labels.get(key);
    if (label === undefined) throw new Error('a payload that the test did not announce');
    const beginsAtNs = Math.max(timerClock.nowNs(), this.#freeAtNs);
    const endsAtNs = beginsAtNs + serviceNs;
    this.#freeAtNs = endsAtNs;
    const payload = encodeResponse(isRight ? label : (label + 1) % 10);
    return { sample, beginsAtNs, endsAtNs, payload };
  }

  #awaitNext(): void {
    const next = this.#services[0];
    if (this.#isAwaited || this.#isStopped || next === undefined) return;
    this.#isAwaited = true;
    timerClock.callAt(next.endsAtNs, this.#deliver);
  }

  readonly #deliver = (): void => {
    this.#isAwaited = false;
    const nowNs = timerClock.nowNs();
    const dueCount = this.#services.findIndex(({ endsAtNs }) => endsAtNs > nowNs);
    const due = this.#services.splice(0, dueCount < 0 ? this.#services.length : dueCount);
    deliverAnswers(due.map(answerOf));
    this.#awaitNext();
  };
}

function answerOf({ sample, beginsAtNs, endsAtNs, payload }: Service): SampleAnswer {
  const times = {
    ...{ takenAtNs: beginsAtNs, beganAtNs: beginsAtNs, endedAtNs: endsAtNs },
    ...{ preprocessNs: 0, computeNs: endsAtNs - beginsAtNs, postprocessNs: 0 },
  };
  return { sample, payload, fault: undefined, times };
}
