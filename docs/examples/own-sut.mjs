// @ts-check
// A SUT and a sample library of one's own, measured in this process.
import { startTest } from 'longhaul';

/** @import { Query, QuerySampleLibrary, ResponseSink, SystemUnderTest } from 'longhaul' */

/**
 * Squares numbers; each sample takes 2 ms.
 * @implements {SystemUnderTest}
 */
class SquareSut {
  /** @param {NumberLibrary} numbers */
  constructor(numbers) {
    this.numbers = numbers;
    /** @type {ResponseSink | undefined} */
    this.sink = undefined;
  }

  name() {
    return Promise.resolve('squares');
  }

  /** @param {ResponseSink} sink */
  start(sink) {
    this.sink = sink;
    return Promise.resolve();
  }

  /** @param {Query} query Is filled again for the next one: what is needed later is read now. */
  issueQuery({ firstResponseId, responseIdStride, sampleCount, sampleIndices, sampleOffset }) {
    for (let i = 0; i < sampleCount; i += 1) {
      const responseId = firstResponseId + i * responseIdStride;
      const sample = sampleIndices[sampleOffset + i * responseIdStride] ?? 0;
      setTimeout(() => this.answer(responseId, sample), 2);
    }
  }

  /**
   * @param {number} responseId
   * @param {number} sample
   */
  answer(responseId, sample) {
    const response = Float64Array.of((this.numbers.loaded.get(sample) ?? Number.NaN) ** 2);
    this.sink?.complete(responseId, new Uint8Array(response.buffer), 0, this.sink.nowNs());
  }

  flushQueries() {}

  stop() {
    return Promise.resolve();
  }
}

/** @implements {QuerySampleLibrary} */
class NumberLibrary {
  name = 'numbers';
  totalSampleCount = 1000;
  performanceSampleCount = 100;
  /** @type {Map<number, number>} */
  loaded = new Map();

  /** @param {Uint32Array} sampleIndices */
  loadSamplesToRam(sampleIndices) {
    for (const index of sampleIndices) this.loaded.set(index, index / 10);
    return Promise.resolve();
  }

  /** @param {Uint32Array} sampleIndices */
  unloadSamplesFromRam(sampleIndices) {
    for (const index of sampleIndices) this.loaded.delete(index);
    return Promise.resolve();
  }
}

const [output = 'results/own-sut'] = process.argv.slice(2);
const qsl = new NumberLibrary();
const { result, figures, accuracy, thresholds } = await startTest({
  sut: new SquareSut(qsl),
  qsl,
  output,
  force: true, // A second start replaces the result of the first.
  settings: {
    scenario: 'Server',
    mode: 'submission',
    targetQps: 500,
    minDuration: '1s',
    minQueryCount: 700,
    targetLatency: '50ms',
    thresholds: ['p99 < 50ms', 'errors == 0'],
  },
  onPhase: (phase) => console.error(`phase: ${phase}`),
});
console.log(JSON.stringify({ result, figures, accuracy, thresholds }));
