import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeSystemError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { LATENT_SHAPE } from './model-parts.ts';

/**
 * The initial noise of every picture. Source: MLCommons inference v4.1,
 * text_to_image/tools/latents.npy.
 */
const LATENTS_FILE = 'latents.npy';
const LATENTS_SHA256 = '78cac10a20ea287f88b5851382e21504a755338d3f8ba8ffd2bcf9e9bf2404f9';

/** Latents of a stand-in: the elements only. */
export const STANDIN_LATENTS_FILE = 'latents-standin.f32';

/** Elements of the latents. */
export const LATENT_COUNT: number = LATENT_SHAPE.reduce((product, length) => product * length, 1);

/**
 * Latents of one picture, float32, from a file beside the model's description.
 * @throws MlperfError `ERR_MODEL` if the file is missing or not MLCommons' (by SHA-256).
 */
export function readLatents(description: string): Float32Array {
  const standin = join(dirname(description), STANDIN_LATENTS_FILE);
  if (existsSync(standin)) return lastFloats(readFileSync(standin));
  const path = join(dirname(description), LATENTS_FILE);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw modelError(
      `${path}: ${describeSystemError(error)}; the rules fix the noise that pictures begin with: put ${LATENTS_FILE} of MLCommons' ` +
        'text_to_image/tools beside the description of the model',
      error,
    );
  }
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found === LATENTS_SHA256) return lastFloats(bytes);
  throw modelError(
    `${path} is not MLCommons': its SHA-256 is ${found}, that of the rules ${LATENTS_SHA256}`,
  );
}

/** The header need not be parsed: the checksum fixes it. */
function lastFloats(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes.subarray(-LATENT_COUNT * 4)).buffer);
}
