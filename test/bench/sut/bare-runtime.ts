import {
  decodeImagenetJpeg,
  normaliseImagenet,
} from '../../../shared/benchmarks/image/imagenet.ts';
import { IMAGENET_ELEMENTS, IMAGENET_IMAGE_SIZE } from '../../../shared/rules/rows/imagenet.ts';
import { disableTelemetry, loadOnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { standinStore } from './standin-path.ts';
import type { BareJob, BareMeasured } from './sut-bench.ts';

// Goal: what ONNX Runtime gives where nothing is around it: no network, no queue, no threads but its own.
// Method: a process with one session in its main thread; told by its parent to run in a loop for so many
// seconds. With JPEG files each is decoded and normalised before its batch, one after the other.

const job = JSON.parse(process.argv[2] as string) as BareJob;
disableTelemetry();
const ort = await loadOnnxRuntime();
const session = await ort.InferenceSession.create(job.modelFile, {
  intraOpNumThreads: job.threads,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  // As in the node's workers.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
});
const [inputName] = session.inputNames as [string];
const [outputName] = session.outputNames as [string];
const isJpeg = job.encoding === 'jpeg';
const store = await standinStore(job.cacheFolder, isJpeg ? 'jpeg' : 'fp32', job.sampleCount);
const data = new Float32Array(job.batch * IMAGENET_ELEMENTS);
const tensor = new ort.Tensor('float32', data, [
  job.batch,
  3,
  IMAGENET_IMAGE_SIZE,
  IMAGENET_IMAGE_SIZE,
]);
let next = 0;

for (let row = 0; row < job.batch; row += 1) {
  const payload = store.payloadOf(row % job.sampleCount);
  const target = rowOf(row);
  if (isJpeg) normaliseImagenet(await decodeImagenetJpeg(payload), target, 'vgg', 'nchw');
  else target.set(new Float32Array(Uint8Array.from(payload).buffer));
}
await runBatch();

process.on('message', ({ seconds }: { seconds: number }) => {
  void measure(seconds).then((measured) => process.send?.(measured));
});
process.once('disconnect', () => process.exit());
process.send?.({ type: 'listening', address: '' });

async function measure(seconds: number): Promise<BareMeasured> {
  const beganMs = performance.now();
  let samples = 0;
  do {
    await runBatch();
    samples += job.batch;
  } while (performance.now() - beganMs < seconds * 1e3);
  return { samples, seconds: (performance.now() - beganMs) / 1e3 };
}

async function runBatch(): Promise<void> {
  for (let row = 0; isJpeg && row < job.batch; row += 1) {
    const rgb = await decodeImagenetJpeg(store.payloadOf(next));
    normaliseImagenet(rgb, rowOf(row), 'vgg', 'nchw');
    next = (next + 1) % job.sampleCount;
  }
  await session.run({ [inputName]: tensor }, [outputName]);
}

function rowOf(row: number): Float32Array {
  return data.subarray(row * IMAGENET_ELEMENTS, (row + 1) * IMAGENET_ELEMENTS);
}
