import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { GenerationRunner } from '../../../sut-node/inference/workers/generation-runner.ts';
import { openRunner } from '../../../sut-node/inference/workers/open-runner.ts';
import type { BatchMessage } from '../../../sut-node/inference/workers/worker-thread.ts';
import { disableTelemetry } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { DEFAULT_RUNTIME } from '../../../sut-node/settings/model-settings.ts';
import { standinStore } from './standin-path.ts';
import type { BareJob, BareMeasured } from './sut-bench.ts';

// Goal: what ONNX Runtime gives with the benchmark's pre- and post-processing and nothing else
// around it: no network, no queue, no threads but its own. Method: a process with one session in
// its main thread works on the same batch for so many seconds when its parent tells it to.

const SAMPLE_BYTES_MAX = 2 ** 31;

const job = JSON.parse(process.argv[2] as string) as BareJob;
disableTelemetry();
const encoding = benchmarkRules(job.benchmark).encodings[job.encoding];
if (encoding === undefined) throw new Error(`${job.benchmark} has no encoding ${job.encoding}`);
const opened = await openRunner({
  ...{ benchmark: job.benchmark, ...job.files, usage: {} },
  runtime: { ...DEFAULT_RUNTIME, threadsPerWorker: job.threads },
  ...{ batchSizeMax: job.batch, encodings: [encoding], responseCompression: 'identity' },
  ...{ sampleBytesMax: SAMPLE_BYTES_MAX, queryBytesMax: SAMPLE_BYTES_MAX },
});
if (opened instanceof GenerationRunner)
  throw new Error(`${job.benchmark}: this bench has no models that generate`);
const runner = opened;
const batches = await makeBatches();
await runner.run(batches[0] as BatchMessage);

process.on('message', ({ seconds }: { seconds: number }) => {
  void measure(seconds).then((measured) => process.send?.(measured));
});
process.once('disconnect', () => process.exit());
process.send?.({ type: 'listening', address: '' });

/** The first samples in turn, each batch in memory of its own. */
async function makeBatches(): Promise<BatchMessage[]> {
  const store = await standinStore(job);
  const count = Math.max(1, Math.floor(job.sampleCount / job.batch));
  return Array.from({ length: count }, (_, first) => {
    const rows = Array.from(
      { length: job.batch },
      (_row, i) => (first * job.batch + i) % job.sampleCount,
    );
    const payloads = rows.map((index) => store.payloadOf(index));
    const ends = new Float64Array(payloads.length);
    payloads.forEach(({ length }, i) => {
      ends[i] = (ends[i - 1] ?? 0) + length;
    });
    const begins = Float64Array.from(payloads, ({ length }, i) => (ends[i] as number) - length);
    const { buffer } = Uint8Array.from(Buffer.concat(payloads));
    const forms = new Uint8Array(rows.length);
    return { kind: 'batch', payloads: buffer, begins, ends, forms, takesTokens: false };
  });
}

async function measure(seconds: number): Promise<BareMeasured> {
  const beganMs = performance.now();
  const sums = { samples: 0, preprocessNs: 0, computeNs: 0, postprocessNs: 0 };
  do {
    const done = await runner.run(
      batches[(sums.samples / job.batch) % batches.length] as BatchMessage,
    );
    const [bad] = done.badSamples;
    if (done.failure !== undefined || bad !== undefined) {
      throw new Error(done.failure?.text ?? bad?.text);
    }
    sums.samples += job.batch;
    sums.preprocessNs += done.preprocessNs;
    sums.computeNs += done.computeNs;
    sums.postprocessNs += done.postprocessNs;
  } while (performance.now() - beganMs < seconds * 1e3);
  return { ...sums, seconds: (performance.now() - beganMs) / 1e3 };
}
