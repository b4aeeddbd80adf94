import { getEventListeners } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createQdl,
  type Query,
  type ResponseSink,
  type SystemUnderTest,
  samplesInMemory,
  startTest,
  type TestOptions,
  type TestParts,
} from '../../../../loadgen-node/index.ts';
import { figuresOfOutcome } from '../../../../loadgen-node/observe/figures/figures-of-outcome.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

/** Answers at once, but for what a test makes it do. */
class PromptSut implements SystemUnderTest {
  #sink: ResponseSink | undefined;
  readonly #issue: (query: Query, sink: ResponseSink) => void;

  constructor(issue: (query: Query, sink: ResponseSink) => void = completeAll) {
    this.#issue = issue;
  }

  name(): Promise<string> {
    return Promise.resolve('prompt');
  }

  start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  issueQuery(query: Query): void {
    if (this.#sink !== undefined) this.#issue(query, this.#sink);
  }

  flushQueries(): void {}

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

function completeAll(query: Query, sink: ResponseSink): void {
  const { firstResponseId, responseIdStride, sampleCount } = query;
  const nowNs = sink.nowNs();
  for (let i = 0; i < sampleCount; i += 1) {
    sink.complete(firstResponseId + i * responseIdStride, new Uint8Array(1), 0, nowNs);
  }
}

const qsl = samplesInMemory([new Uint8Array([1]), new Uint8Array([2]), new Uint8Array([3])]);

function parts(settings: TestOptions, others: Partial<TestParts> = {}): TestParts {
  const short = { minDuration: '5ms', minQueryCount: 64, ...settings };
  return {
    sut: new PromptSut(),
    qsl,
    output: join(tempFolder(), 'run'),
    settings: short,
    ...others,
  };
}

const SERVER: TestOptions = { scenario: 'Server', targetQps: 5_000 };

describe('startTest', () => {
  it.each<TestOptions>([
    SERVER,
    { scenario: 'Offline', targetQps: 1_000 },
    { scenario: 'SingleStream' },
  ])('has records from which every figure follows: $scenario', async (settings) => {
    const test = await startTest(parts(settings));
    const { performance } = test.outcome;
    expect(test.records?.rowCount).toBe(performance?.counts.issuedSamples);
    expect(test.figures).toEqual(performance === null ? null : figuresOfOutcome(performance));
    expect(test.figures.errors).toBe(0);
    expect(test.audit).toBeNull();
    expect(readFileSync(join(test.output, 'mlperf_log_summary.txt'), 'utf8')).toContain('prompt');
  });

  it('tells its phases, and scores what was answered', async () => {
    const phases: string[] = [];
    const onPhase = (phase: string): void => void phases.push(phase);
    const mode = 'submission';
    const test = await startTest(parts({ ...SERVER, mode }, { onPhase, keepRecords: false }));
    expect(phases).toEqual(['name', 'start', 'accuracy', 'performance', 'judge']);
    expect(test.accuracy).toEqual({ metric: 'answered', value: 1, target: 1, isMet: true });
    expect(test.records).toBeNull();
    expect(test.figures.queries).toBeGreaterThanOrEqual(1);
    expect(test.notes.join('\n')).toMatch(
      /not an MLPerf result[\s\S]*not a run of the Network division[\s\S]*share that was answered/,
    );
  });

  it('takes other arrivals without a division, and marks the result', async () => {
    const arrivals = 'step:500@20ms,0@5ms,200@20ms:constant';
    const test = await startTest({ ...parts({}), settings: { arrivals } });
    const steps = test.loadTest?.steps ?? [];
    expect(steps.map(({ dueQueries }) => dueQueries)).toEqual([10, 0, 4]);
    expect(test.notes.join()).toContain(`arrivals ${arrivals} are not LoadGen's Poisson`);
    expect((await startTest(parts(SERVER))).loadTest).toBeNull();
    const both = startTest({ ...parts({}), settings: { arrivals, targetQps: 5 } });
    await expect(both).rejects.toThrow(/^targetQps and arrivals step:500@20ms/);
  });

  it('holds thresholds apart from the verdict', async () => {
    const thresholds = ['p99 < 1ns', 'errors == 0'];
    const always = { scenario: 'SingleStream', minDuration: '0ms' } as const;
    const test = await startTest(parts({ ...always, thresholds }));
    expect(test.thresholds.map(({ text, isMet }) => [text, isMet])).toEqual([
      ['p99 < 1ns', false],
      ['errors == 0', true],
    ]);
    expect(test).toMatchObject({ result: 'VALID', meetsThresholds: false });
  });

  it('ends as INVALID where samples fail, and has no latency of those', async () => {
    const sut = new PromptSut(({ firstResponseId }, sink) =>
      sink.fail(firstResponseId, { code: 'mine', text: 'out of order' }),
    );
    const test = await startTest(parts({ scenario: 'SingleStream' }, { sut }));
    expect(test.result).toBe('INVALID');
    // Which of the two depends on how many of them come before it is looked.
    expect(['all-failed', 'lost-samples']).toContain(test.verdict.reasons[0]?.rule);
    expect(test.figures.lost).toBe(test.figures.samples);
    expect(test.figures.p99).toBeUndefined();
  });

  it('rejects with what a listener threw, after the test has ended in order', async () => {
    const output = join(tempFolder(), 'run');
    const onPhase = (phase: string): void => {
      if (phase === 'performance') throw new Error('mine');
    };
    await expect(startTest(parts(SERVER, { output, onPhase }))).rejects.toThrow('mine');
    expect(readFileSync(join(output, 'mlperf_log_summary.txt'), 'utf8')).toContain('INCOMPLETE');
  });

  it('ends on the signal', async () => {
    const controller = new AbortController();
    const onPhase = (phase: string): void => {
      if (phase === 'performance') controller.abort();
    };
    const { signal } = controller;
    const test = await startTest(parts({ ...SERVER, minDuration: '60s' }, { onPhase, signal }));
    expect(test.result).toBe('INTERRUPTED');
  });

  it('leaves no listener on the signal, which may serve many tests', async () => {
    const { signal } = new AbortController();
    const unreachable = createQdl({ nodes: ['127.0.0.1:1'] }, qsl);
    const throwing = { onPhase: () => expect.unreachable('a listener that throws') };
    const good = await startTest(parts(SERVER, { signal }));
    expect(good.result).not.toBe('INTERRUPTED');
    await expect(startTest(parts(SERVER, { signal, ...throwing }))).rejects.toThrow('throws');
    await expect(startTest(parts(SERVER, { signal, sut: unreachable }))).rejects.toMatchObject({
      code: 'ERR_SUT_UNREACHABLE',
    });
    await expect(startTest(parts({}, { signal }))).rejects.toThrow('targetQps');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each<[object, RegExp]>([
    [{ scenario: 'Servr' }, /^settings: scenario: "Servr" must be one of: SingleStream/],
    [{ targetQPS: 5 }, /^settings: unknown key "targetQPS"; did you mean "targetQps"\?$/],
    [{ scenario: 'Server' }, /^targetQps <n> is needed: Server takes the rate/],
    [{ ...SERVER, minDuration: 10 }, /^settings: minDuration: 10 must be a duration such as 10s/],
    [
      { ...SERVER, thresholds: ['p9 < 1s'] },
      /^settings: thresholds: "p9 < 1s" names an unknown figure "p9"/,
    ],
    [
      { ...SERVER, benchmark: 'digits' },
      /"digits" differs from the benchmark of the samples and the SUT, "custom"/,
    ],
    [
      { scenario: 'Offline', mode: 'find-peak', targetQps: 1 },
      /^mode find-peak searches in Server/,
    ],
  ])('refuses %o before it begins', async (settings, message) => {
    const output = join(tempFolder(), 'run');
    const test = startTest({ sut: new PromptSut(), qsl, output, settings });
    await expect(test).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
    expect(existsSync(output)).toBe(false);
  });

  it('refuses a QDL with another library than its own', async () => {
    const other = samplesInMemory([new Uint8Array(1)]);
    const sut = createQdl({ nodes: ['127.0.0.1:1'] }, other);
    await expect(startTest(parts(SERVER, { sut }))).rejects.toThrow(/qsl is not the library/);
  });

  it.each([
    ['network', 'ERR_RULE'],
    ['open', 'ERR_SUT_UNREACHABLE'],
  ] as const)(
    'holds the encoding of a library of the program to division %s',
    async (division, code) => {
      const packed = {
        ...{ name: 'packed', totalSampleCount: 1, performanceSampleCount: 1 },
        encoding: { form: 'raw', compression: 'lz4' },
        payloadOf: () => new Uint8Array(1),
        loadSamplesToRam: () => Promise.resolve(),
        unloadSamplesFromRam: () => Promise.resolve(),
      };
      const sut = createQdl({ nodes: ['127.0.0.1:1'], division }, packed);
      await expect(startTest(parts(SERVER, { sut, qsl: packed }))).rejects.toMatchObject({ code });
    },
  );
});

describe('createQdl', () => {
  it.each<[object, RegExp]>([
    [{ nodes: [] }, /^createQdl: nodes: sut: \[\] must name at least one host:port$/],
    [{ nodes: ['nowhere'] }, /"nowhere" must be host:port/],
    [{ nodes: ['a:1'], stream: 2 }, /^createQdl: unknown key "stream"; did you mean "streams"\?$/],
    [{ nodes: ['a:1'], benchmark: 'digits' }, /"digits" is not that of the samples/],
    [{ nodes: ['a:1'], digest: 101 }, /^createQdl: digest: 101 must be a percentage/],
  ])('refuses %o', (options, message) => {
    const create = (): unknown => createQdl(options as { nodes: string[] }, qsl);
    expect(create).toThrow(message);
  });
});

describe('samplesInMemory', () => {
  it('is the payloads, byte for byte', async () => {
    const samples = samplesInMemory([new Uint8Array([7, 8])], { name: 'mine' });
    await samples.loadSamplesToRam(Uint32Array.of(0));
    expect([...samples.payloadOf(0)]).toEqual([7, 8]);
    expect(samples).toMatchObject({ name: 'mine', totalSampleCount: 1, performanceSampleCount: 1 });
  });

  it.each<[readonly Uint8Array[], RegExp]>([
    [[], /^mine has no sample$/],
    [[new Uint8Array(1), new Uint8Array(0)], /^sample 1 of mine is empty/],
  ])('refuses what is no sample (%#)', (payloads, message) => {
    expect(() => samplesInMemory(payloads, { name: 'mine' })).toThrow(message);
  });
});
