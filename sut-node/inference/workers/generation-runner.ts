import { machineNowNs } from '../../../shared/base/clock.ts';
import { MlperfError, messageOf, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { type Codec, codecNamed } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import type { GeneratingPipeline } from '../../model/model-facts.ts';
import type { ModelSession } from '../../model/onnx/ort-session.ts';
import { checkForm } from '../../pipeline/tensor-preprocessor.ts';
import { CachedDecoder } from '../generation/cached-decoder.ts';
import { checkFilling } from '../generation/check-filling.ts';
import { ContinuousGenerator, type Sequence } from '../generation/continuous-generator.ts';
import { packResponses } from './batch-runner.ts';
import { PayloadReader } from './payload-reader.ts';
import type { BatchMessage, DoneMessage, TokensMessage, WorkerStart } from './worker-thread.ts';

interface GenerationRunnerOptions
  extends Pick<
    WorkerStart,
    'batchSizeMax' | 'encodings' | 'sampleBytesMax' | 'queryBytesMax' | 'responseCompression'
  > {
  readonly pipeline: GeneratingPipeline;
  readonly session: ModelSession;
  /** Receives the tokens of one step, for batches that request them. */
  readonly onTokens: (message: TokensMessage) => void;
}

/**
 * Tokens of a warm-up: one of a step alone, one of a step of two sequences, and the following ones.
 */
const WARM_UP_TOKENS = 4;

/** Length of a warm-up prompt that is much shorter than the other, so that it has much padding. */
const SHORT_PROMPT_TOKENS = 3;

/** A sequence's tokens, or its error. */
type Outcome = readonly number[] | Error;

/**
 * A worker's processing of prompts: many concurrent batches of one sample each, which end in any
 * order. A response is the ids of all new tokens, int32 little-endian; the first 4 bytes are
 * reported as soon as they are known, the others if requested. The time from the prompt's ids to
 * the last token counts as compute, including waits for a token boundary and steps of other
 * sequences.
 */
export class GenerationRunner {
  readonly #options: GenerationRunnerOptions;
  readonly #payloads: PayloadReader;
  readonly #responseCodec: Codec;
  readonly #model: CachedDecoder;
  readonly #generator: ContinuousGenerator;
  readonly #sequences = new Map<number, Sequence>();
  /** Tokens of the current step, with their batches' numbers. */
  #toldNumbers: number[] = [];
  #toldIds: number[] = [];
  #toldEnds: number[] = [];

  constructor(options: GenerationRunnerOptions) {
    const { pipeline, session, batchSizeMax, responseCompression } = options;
    this.#options = options;
    this.#payloads = new PayloadReader(options);
    this.#responseCodec = codecNamed(responseCompression);
    this.#model = new CachedDecoder(pipeline.decoder, session);
    this.#generator = new ContinuousGenerator({
      model: this.#model,
      limits: pipeline.limits,
      sequencesMax: batchSizeMax,
      onStepped: () => this.#tellTokens(),
    });
  }

  /**
   * Generates alone and concurrently, and compares the scores. @throws MlperfError `ERR_MODEL` with
   * the model's fault.
   */
  async warmUp(): Promise<void> {
    const { pipeline, batchSizeMax } = this.#options;
    const { payload } = pipeline.warmUpPayload();
    this.#payloads.warmUp(payload);
    const prompt = pipeline.promptOf(payload);
    const outcomes = await Promise.all(
      [0, 1].map(() =>
        this.#generate(-1, { prompt, newTokensMax: WARM_UP_TOKENS, onFirstToken: () => {} }),
      ),
    );
    const prompts = [prompt.slice(0, SHORT_PROMPT_TOKENS), prompt].slice(0, batchSizeMax);
    try {
      for (const outcome of outcomes) {
        if (outcome instanceof Error) throw outcome;
        this.#responseCodec.compress(bytesOf(outcome));
      }
      const [next] = outcomes as [readonly number[]];
      await checkFilling(this.#model, pipeline.decoder, prompts, next);
    } catch (error) {
      if (error instanceof MlperfError) throw error;
      throw modelError(`the model does not run: ${messageOf(error)}`, error);
    }
  }

  /**
   * Works on a batch of one sample, concurrently with others. Never throws: failures are in the
   * result.
   * @param number Number for {@link cancel}.
   * @param onFirstToken Receives the first bytes of the response before compression.
   */
  async run(
    batch: BatchMessage,
    number: number,
    onFirstToken: (payload: Uint8Array) => void,
  ): Promise<DoneMessage> {
    const beganAtNs = machineNowNs();
    let prompt: readonly number[] | undefined;
    let fault = '';
    try {
      const { encodings, pipeline } = this.#options;
      const { form } = encodings[batch.forms[0] as number] as PayloadEncoding; // It has one sample.
      checkForm(form, pipeline.forms);
      prompt = pipeline.promptOf(this.#payloads.read(batch, 0));
    } catch (error) {
      fault = messageOf(error);
    }
    const readAtNs = machineNowNs();
    const outcome =
      prompt &&
      (await this.#generate(number, {
        prompt,
        onFirstToken: (id) => onFirstToken(bytesOf([id])),
        onTokens: batch.takesTokens ? (ids) => this.#keepTokens(number, ids) : undefined,
      }));
    const generatedAtNs = machineNowNs();
    const tokens = outcome instanceof Error ? undefined : outcome;
    const packed = packResponses([tokens && this.#responseCodec.compress(bytesOf(tokens))]);
    const endedAtNs = machineNowNs();
    return {
      kind: 'done',
      payloads: batch.payloads,
      ...packed,
      badSamples: prompt === undefined ? [{ row: 0, text: fault }] : [],
      failure: outcome instanceof Error ? { text: outcome.message, rows: [0] } : undefined,
      ...(tokens === undefined ? {} : { tokenCounts: [tokens.length] }),
      beganAtNs,
      preprocessNs: readAtNs - beganAtNs,
      computeNs: generatedAtNs - readAtNs,
      postprocessNs: endedAtNs - generatedAtNs,
      endedAtNs,
    };
  }

  /** Ends the work on a batch at the next token boundary; it is answered as failed. */
  cancel(number: number): void {
    const sequence = this.#sequences.get(number);
    if (sequence !== undefined) this.#generator.cancel(sequence);
  }

  /** Running sequences get no answer. */
  stop(): void {
    this.#generator.stop();
  }

  #keepTokens(number: number, ids: readonly number[]): void {
    this.#toldNumbers.push(number);
    this.#toldIds.push(...ids);
    this.#toldEnds.push(TOKEN_BYTES * this.#toldIds.length);
  }

  #tellTokens(): void {
    const [numbers, ids, ends] = [this.#toldNumbers, this.#toldIds, this.#toldEnds];
    if (numbers.length === 0) return;
    this.#toldNumbers = [];
    this.#toldIds = [];
    this.#toldEnds = [];
    this.#options.onTokens({ kind: 'tokens', numbers, payload: bytesOf(ids), ends });
  }

  #generate(
    number: number,
    start: Pick<Sequence, 'prompt' | 'newTokensMax' | 'onFirstToken' | 'onTokens'>,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const end = (outcome: Outcome): void => {
        this.#sequences.delete(number);
        resolve(outcome);
      };
      const sequence: Sequence = { ...start, onEnd: end, onFailed: end };
      this.#sequences.set(number, sequence);
      this.#generator.add(sequence);
    });
  }
}

/** Bytes of a token in a response. */
const TOKEN_BYTES = 4;

/** Ids as int32, little-endian. */
function bytesOf(ids: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(TOKEN_BYTES * ids.length);
  const view = new DataView(bytes.buffer);
  for (const [i, id] of ids.entries()) view.setInt32(TOKEN_BYTES * i, id, true);
  return bytes;
}
