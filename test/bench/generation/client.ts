import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standinDecoder } from '../../../sut-node/benchmarks/language/standin-decoder.ts';
import { CachedDecoder } from '../../../sut-node/inference/generation/cached-decoder.ts';
import type { InputTensor } from '../../../sut-node/model/model-facts.ts';
import { fileDigest } from '../../../sut-node/model/model-file.ts';
import { encodeModel } from '../../../sut-node/model/onnx/graph-builder.ts';
import { createOrtSession, type ModelSession } from '../../../sut-node/model/onnx/ort-session.ts';
import { decoderLayout } from '../../../sut-node/pipeline/decoder-fit.ts';
import { DEFAULT_RUNTIME } from '../../../sut-node/settings/model-settings.ts';
import { runContinuous, runOpenLoad, runStatic, standinPrompts, TEXTS } from './batches.ts';
import type { GenerationJob, GenerationMeasured, PrefillMeasured } from './generation-bench.ts';

// Goal: what continuous batching gives, and what longhaul adds to ONNX Runtime in it, in a fresh process. Started by
// generation-bench.ts with the job as its argument; prints one line of JSON.

const job = JSON.parse(process.argv[2] as string) as GenerationJob;

/** Shapes of the inputs of an inference. */
type Shapes = readonly (readonly [tensor: InputTensor, dims: readonly number[]])[];

async function openDecoder(): Promise<ModelSession & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  try {
    const modelFile = join(folder, 'decoder.onnx');
    writeFileSync(
      modelFile,
      encodeModel(standinDecoder('bench', { ...job.size, vocabulary: TEXTS.vocabularySize })),
    );
    const sha256 = await fileDigest(modelFile, 'sha256');
    const runtime = { ...DEFAULT_RUNTIME, threadsPerWorker: job.threads };
    return { ...(await createOrtSession({ modelFile, sha256, runtime })), file: modelFile };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Notes the shapes of all inferences. */
function recording(session: ModelSession, seen: Shapes[]): ModelSession {
  return {
    ...session,
    run: (inputs, names) => {
      seen.push(inputs.map((input) => [{ ...input, data: EMPTY }, [...input.dims]]));
      return session.run(inputs, names);
    },
  };
}

const EMPTY = new Float32Array(0);

/**
 * The same inferences without longhaul: outputs of one are inputs of the next where the shapes are the same, else there are zeros,
 * in memory that is there already. Nobody looks at the scores.
 */
async function runBare(session: ModelSession, all: readonly Shapes[]): Promise<number> {
  const names = session.tensors.outputs.map(({ name }) => name);
  const longest = Math.max(...all.flat().map(([, dims]) => productOf(dims)));
  const zeros = new Float32Array(longest);
  const ones = new BigInt64Array(longest).fill(1n);
  let before = new Map<string, { data: unknown; dims: readonly number[] }>();
  const beganNs = process.hrtime.bigint();
  for (const shapes of all) {
    const inputs = shapes.map(([input, dims]): InputTensor => {
      if (input.elementType === 'int64')
        return { ...input, data: ones.subarray(0, productOf(dims)) };
      const last = before.get(input.name.replace('past_key_values', 'present'));
      const isSame = last?.dims.every((length, i) => length === dims[i]) === true;
      return {
        ...input,
        data: isSame ? (last?.data as Float32Array) : zeros.subarray(0, productOf(dims)),
      };
    });
    before = new Map(await session.run(inputs, names));
  }
  return Number(process.hrtime.bigint() - beganNs);
}

function productOf(dims: readonly number[]): number {
  return dims.reduce((product, length) => product * length, 1);
}

const { file, ...session } = await openDecoder();
const layout = decoderLayout({ file, ...session.tensors }, 'a benchmark');
const prompts = standinPrompts(job.prompts);
if (job.prefill !== undefined) {
  const warmUp = prompts.slice(0, job.places);
  await runContinuous(new CachedDecoder(layout, session), warmUp, job.places);
  const model = new CachedDecoder(layout, session);
  const { firstNs, gapNs } = await runOpenLoad(model, prompts, {
    ...job.prefill,
    places: job.places,
  });
  const at = (values: readonly number[], share: number): number =>
    values[Math.min(values.length - 1, Math.floor(values.length * share))] as number;
  const measured: PrefillMeasured = {
    ...{ ttftP50Ns: at(firstNs, 0.5), ttftP99Ns: at(firstNs, 0.99) },
    ...{ itlP50Ns: at(gapNs, 0.5), itlP99Ns: at(gapNs, 0.99), itlMaxNs: at(gapNs, 1) },
  };
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
  // Ends there.
  await new Promise(() => {});
}
const shapes: Shapes[] = [];
// V8 compiles what is used often, and the inferences are noted.
await runContinuous(new CachedDecoder(layout, recording(session, shapes)), prompts, job.places);
const continuous = await runContinuous(new CachedDecoder(layout, session), prompts, job.places);
const bareNs = await runBare(session, shapes);
const stayed = await runStatic(new CachedDecoder(layout, session), prompts, job.places);
const measured: GenerationMeasured = {
  tokens: continuous.tokens,
  inferences: shapes.length,
  continuousNs: continuous.ns,
  bareNs,
  staticNs: stayed.ns,
  staticTokens: stayed.tokens,
};
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
