import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decoderGraph } from '../../../sut-node/benchmarks/language/standin.ts';
import { CachedDecoder } from '../../../sut-node/inference/generation/cached-decoder.ts';
import type { InputTensor } from '../../../sut-node/model/model-facts.ts';
import { fileDigest } from '../../../sut-node/model/model-file.ts';
import { createOrtSession, type ModelSession } from '../../../sut-node/model/onnx/ort-session.ts';
import { cacheAdditions } from '../../../sut-node/pipeline/cache-additions.ts';
import { decoderLayout } from '../../../sut-node/pipeline/decoder-fit.ts';
import { DEFAULT_RUNTIME } from '../../../sut-node/settings/model-settings.ts';
import { runContinuous, runStatic, TEXTS, workOf } from './batches.ts';
import type { GenerationJob, GenerationMeasured } from './generation-bench.ts';

// Goal: what continuous batching gives, and what longhaul adds to ONNX Runtime in it, in a fresh
// process. Started by generation-bench.ts with the job as its argument; prints one line of JSON.

const job = JSON.parse(process.argv[2] as string) as GenerationJob;

/** Inputs of an inference without their elements, and the outputs that were asked for. */
interface Inference {
  readonly inputs: readonly InputTensor[];
  readonly names: readonly string[];
}

async function openDecoder(): Promise<ModelSession & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  try {
    const modelFile = join(folder, 'decoder.onnx');
    writeFileSync(modelFile, decoderGraph(job.size, TEXTS.vocabularySize).build('for a bench'));
    const sha256 = await fileDigest(modelFile, 'sha256');
    const runtime = { ...DEFAULT_RUNTIME, threadsPerWorker: job.threads };
    return {
      ...(await createOrtSession({ modelFile, sha256, runtime, additionsTo: cacheAdditions })),
      file: modelFile,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Notes all inferences in the list that is given last. */
function recording(session: ModelSession) {
  let seen: Inference[] | undefined;
  return {
    session: {
      ...session,
      run: (inputs, names) => {
        seen?.push({ inputs: inputs.map((input) => ({ ...input, data: EMPTY })), names });
        return session.run(inputs, names);
      },
    } satisfies ModelSession,
    noteIn: (list: Inference[] | undefined) => {
      seen = list;
    },
  };
}

const EMPTY = new Float32Array(0);

/**
 * The same inferences without longhaul, on zeros in memory that is there already. Nobody looks at
 * what comes out.
 */
async function runBare(session: ModelSession, all: readonly Inference[]): Promise<number> {
  const longest = Math.max(
    ...all.flatMap(({ inputs }) => inputs.map(({ dims }) => productOf(dims))),
  );
  // Inputs of an inference lie in places of their own, as they do in any program.
  const zeros = (all[0]?.inputs ?? []).map(() => new Float32Array(longest).fill(0.01));
  const ones = new BigInt64Array(longest).fill(1n);
  const beganNs = process.hrtime.bigint();
  for (const { inputs, names } of all) {
    const filled = inputs.map((input, i): InputTensor => {
      const memory = input.elementType === 'int64' ? ones : (zeros[i] as Float32Array);
      return { ...input, data: memory.subarray(0, productOf(input.dims)) };
    });
    await session.run(filled, names);
  }
  return Number(process.hrtime.bigint() - beganNs);
}

function productOf(dims: readonly number[]): number {
  return dims.reduce((product, length) => product * length, 1);
}

const { file, ...session } = await openDecoder();
const layout = decoderLayout({ file, ...session.tensors }, 'a benchmark');
const work = workOf(job.mix, job.prompts);
// V8 compiles what is used often, the decoder takes its memory, and the inferences are noted.
const noted = recording(session);
const model = new CachedDecoder(layout, noted.session);
const seen: Inference[] = [];
noted.noteIn(seen);
await runContinuous(model, work, job.places);
noted.noteIn(undefined);
const continuous = await runContinuous(model, work, job.places);
const bareNs = await runBare(session, seen);
const seenStatic: Inference[] = [];
noted.noteIn(seenStatic);
const stayed = await runStatic(model, work, job.places);
const bareStaticNs = await runBare(session, seenStatic);
const measured: GenerationMeasured = {
  tokens: continuous.tokens,
  inferences: seen.length,
  continuousNs: continuous.ns,
  bareNs,
  staticNs: stayed.ns,
  staticTokens: stayed.tokens,
  bareStaticNs,
};
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
