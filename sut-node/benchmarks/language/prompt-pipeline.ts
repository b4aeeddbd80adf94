import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import { type StandinTexts, standinText } from '../../../shared/benchmarks/standin/standin-text.ts';
import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import type { GeneratingPipeline, OpenedModel } from '../../model/model-facts.ts';
import { decoderLayout } from '../../pipeline/decoder-fit.ts';

const FORM = 'ids';

/**
 * Joins a decoder-only model with prompts sent as token ids, int32 little-endian.
 * @param texts Source of a warm-up prompt.
 * @throws MlperfError `ERR_MODEL` with the expected and the actual tensors.
 */
export function promptPipeline(
  model: OpenedModel,
  what: string,
  limits: GenerationLimits,
  texts: StandinTexts,
): GeneratingPipeline {
  const decoder = decoderLayout(model, what);
  return {
    forms: [FORM],
    decoder,
    limits,
    promptOf: (payload) => idsOf(payload, decoder.vocabulary, limits.promptTokensMax),
    warmUpPayload: () => {
      const ids = standinText(texts, 0, 0).prompt.map((id) => id % decoder.vocabulary);
      return { form: FORM, payload: new Uint8Array(ids.buffer) };
    },
  };
}

/** @throws MlperfError `ERR_DATA_SET` */
function idsOf(payload: BorrowedBytes, vocabulary: number, tokensMax: number): readonly number[] {
  const bytes = readInPlace(payload);
  const count = bytes.length / Int32Array.BYTES_PER_ELEMENT;
  if (!Number.isInteger(count) || count < 1 || count > tokensMax) {
    throw dataSetError(
      `a prompt has 1 to ${tokensMax} token ids of 4 bytes each, not ${bytes.length} bytes`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: count }, (_, i) => {
    const id = view.getInt32(4 * i, true);
    if (id >= 0 && id < vocabulary) return id;
    throw dataSetError(
      `token ${i} of the prompt is ${id}; the model has ids from 0 to ${vocabulary - 1}`,
    );
  });
}
