import { describe, expect, it } from 'vitest';
import { timerClock } from '../../../../shared/base/clock.ts';
import type { Batch, SutModel } from '../../../../sut-node/inference/batcher/sut-model.ts';
import { createNullModel } from '../../../../sut-node/inference/built-in/immediate-model.ts';
import { failSamples } from '../../../../sut-node/inference/workers/batch-answers.ts';
import { checkNode, checkReportText } from '../../../../sut-node/operations/check-node.ts';
import { TEST_SETTINGS } from '../../../scenes/sut-node/sut-node.ts';

// Goal: a check runs the model as a node would, and says what it is. Method: a model without ONNX;
// the real one is checked by test/integration/sut-node/operations.test.ts.

const settings = { ...TEST_SETTINGS, benchmark: 'null', batchSizeMax: 3 };

/** A model that answers like the null model and remembers what it was given. */
function scene(change: Partial<SutModel> = {}) {
  const inner = createNullModel(timerClock, 4);
  const batches: Batch[] = [];
  const model: SutModel = Object.assign(Object.create(inner) as SutModel, {
    load: () =>
      Promise.resolve({
        file: '/models/a.onnx',
        sha256: 'abc',
        isStandIn: true,
        tensors: {
          inputs: [{ name: 'image', elementType: 'float', shape: [-1, 3, 8, 8] }],
          outputs: [],
        },
      }),
    warmUp: () => Promise.resolve(),
    run: (batch: Batch) => {
      batches.push(batch);
      inner.run(batch);
    },
    samplePayload: () => ({ form: 'raw', payload: Uint8Array.of(1, 2) }),
    ...change,
  });
  return { batches, done: checkNode(settings, model, () => {}) };
}

describe('checkNode', () => {
  it("measures one sample and the largest batch, several times, with the model's own payload", async () => {
    const { batches, done } = scene();
    const { inferences, sample } = await done;
    expect(inferences.map(({ batchSize }) => batchSize)).toEqual([1, 3]);
    expect(batches.map(({ samples }) => samples.length)).toEqual([1, 1, 1, 1, 1, 3, 3, 3, 3, 3]);
    expect(batches[9]?.samples.map(({ pieces }) => pieces)).toEqual(
      [0, 1, 2].map(() => [Uint8Array.of(1, 2)]),
    );
    expect(sample).toEqual({ form: 'raw', bytes: 2 });
    expect(inferences.every(({ totalNs }) => totalNs > 0)).toBe(true);
  });

  it('names the configuration and tells everything that it is made of', async () => {
    const report = await scene().done;
    expect(report).toMatchObject({
      configuration: expect.stringMatching(/^null\/null\/cpu-w1t1b3\/[0-9a-f]{8}$/),
      model: { file: '/models/a.onnx', sha256: 'abc', isStandIn: true },
      provider: 'cpu',
      settings: { batchSizeMax: '3' },
    });
    expect(report.rssBytes).toBeGreaterThan(10e6);
  });

  it('measures a generator with one sequence, and with all that each worker takes side by side', async () => {
    const loaded = {
      file: '/a.onnx',
      sha256: 'abc',
      isStandIn: true,
      tensors: { inputs: [], outputs: [] },
    };
    const { batches, done } = scene({
      load: () => Promise.resolve({ ...loaded, batchSizeFixed: 1, sequencesMax: 4 }),
      workerCounts: { count: 2, replacedCount: 0 },
    });
    const report = await done;
    expect(report.configuration).toMatch(/^null\/null\/cpu-w1t1b4\//);
    expect(report.inferences.map(({ batchSize }) => batchSize)).toEqual([1, 4]);
    expect(batches.map(({ samples }) => samples.length)).toEqual(Array(5 + 5 * 8).fill(1));
    const text = checkReportText(report);
    expect(text).toMatch(/^Batching {7}4 sequences side by side in a worker at most \(--json/m);
    expect(text).toMatch(/^ {15}1 sequence: .*\n {15}4 sequences: .* samples\/s of one worker$/m);
  });

  it('fails when the model fails on its own sample', async () => {
    const run = ({ samples }: Batch) => failSamples(samples, { code: 2, text: 'no memory' });
    await expect(scene({ run }).done).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: 'a batch of 1: no memory',
    });
  });

  it('refuses files of TLS that a node would refuse', async () => {
    const model = createNullModel(timerClock, 4);
    await expect(
      checkNode({ ...settings, tlsCert: 'a.pem' }, model, () => {}),
    ).rejects.toMatchObject({ code: 'ERR_CONFIG_INVALID' });
  });
});

describe('checkReportText', () => {
  it('says in words what the model is and how fast', async () => {
    const report = await scene().done;
    const text = checkReportText({
      ...report,
      rssBytes: 100 * 1024 ** 2,
      inferences: [
        { batchSize: 16, computeNs: 6.491e6, totalNs: 16e6, tokenCount: null },
        { batchSize: 32, computeNs: 1.3204e9, totalNs: 2e9, tokenCount: null },
      ],
    });
    for (const line of [
      /^Benchmark {6}null, an example of this project$/m,
      /^Model {10}null$/m,
      /^ {15}\/models\/a\.onnx$/m,
      /^ {15}SHA-256 abc$/m,
      /^ {15}a stand-in: not known to be the benchmark's own model$/m,
      /^Inputs {9}image: float \[free, 3, 8, 8\]$/m,
      /^Batching {7}3 samples in one inference at most \(--json says how\)$/m,
      /^Inference {6}samples: raw, 2 bytes each$/m,
      /^ {15}batch of 16: 6\.49 ms in the model, 16\.0 ms in all, 1000 samples\/s of one worker$/m,
      /^ {15}batch of 32: 1320 ms in the model, 2000 ms in all, 16 samples/m,
      /^Memory {9}100 MiB resident, all threads together$/m,
    ]) {
      expect(text).toMatch(line);
    }
  });

  it('tells how many tokens an answer of its sample has, and tokens per second', async () => {
    const report = await scene({
      run: ({ samples }) => {
        const times = undefined;
        for (const sample of samples) {
          const answer = { sample, payload: new Uint8Array(20), fault: undefined, times };
          sample.owner.answer([{ ...answer, tokenCount: 5 }]);
        }
      },
    }).done;
    expect(report.inferences.map(({ tokenCount }) => tokenCount)).toEqual([5, 5]);
    const inferences = [{ batchSize: 4, computeNs: 9e6, totalNs: 10e6, tokenCount: 5 }];
    const text = checkReportText({ ...report, inferences });
    expect(text).toMatch(/samples: raw, 2 bytes each, answered with 5 output tokens each$/m);
    expect(text).toMatch(
      /10\.0 ms in all, 400 samples\/s and 2000 output tokens\/s \(prompts included\) of one worker$/m,
    );
  });

  it('has no lines about a model, workers and rates where there are none', async () => {
    const loaded = { sha256: '', isStandIn: false, tensors: { inputs: [], outputs: [] } };
    const report = await scene({ load: () => Promise.resolve(loaded) }).done;
    const inferences = [{ batchSize: 1, computeNs: 5e6, totalNs: 5.5e6, tokenCount: 16 }];
    const text = checkReportText({ ...report, sample: null, inferences });
    expect(text).toMatch(/^Model {10}null\nProvider {7}cpu\nBatching/m);
    expect(text).toMatch(/^Inference {6}batch of 1: 5\.50 ms in all$/m);
  });

  it('tells of batches of one sample in the singular', async () => {
    const text = checkReportText({ ...(await scene().done), batchSizeMax: 1 });
    expect(text).toMatch(/^Batching {7}1 sample in one inference at most/m);
  });

  it('calls a model of the user’s neither an example nor the model of a benchmark', async () => {
    const report = await scene().done;
    const text = checkReportText({ ...report, benchmark: 'custom' });
    expect(text).toMatch(/^Benchmark {6}custom, a model and data of your own$/m);
    expect(text).toMatch(/^ {15}your own model: there is no reference to compare it with$/m);
    expect(text).not.toMatch(/an example of this project|benchmark's own/);
  });

  it.each([
    [false, false, /^ {15}the benchmark's own model$/m],
    [true, false, /^ {15}the reference model of the benchmark, known by its checksum$/m],
    [true, true, /^ {15}a stand-in/m],
  ])('tells what it is: official %s, stand-in %s', async (isOfficial, isStandIn, line) => {
    const report = await scene().done;
    const text = checkReportText({ ...report, isOfficial, model: { ...report.model, isStandIn } });
    expect(text).toMatch(line);
  });
});
