import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { wireError } from '../../../../shared/base/errors/mlperf-error.ts';
import { type Codec, codecNamed } from '../../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../../shared/domain/system-under-test.ts';

/**
 * Decompresses the responses of one stream inside the timed region, and changes them in no other
 * way (rule: inference_rules v4.1, Network division, QDL constraints: "If an SUT compresses its
 * output, the QDL must decompress the output. Decompression is a timed operation. No other
 * post-processing in the QDL is allowed").
 */
export class ResponseDecoder {
  /** By index into Open.response_encodings; undefined if the node did not choose it. */
  readonly #codecs: readonly (Codec | undefined)[];
  readonly #bytesMax: number;
  /** True if responses may be compressed: then the clock is read again after each of them. */
  readonly takesTime: boolean;

  /**
   * @param offered Open.response_encodings.
   * @param agreed Opened.response_encodings, indices into `offered`; empty: the node may use all of
   * them.
   * @param bytesMax Largest decompressed response, bytes.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` for an index that was not offered, `ERR_NOT_INSTALLED`
   * for a compression that this Node.js lacks.
   */
  constructor(offered: readonly PayloadEncoding[], agreed: readonly number[], bytesMax: number) {
    const unknown = agreed.find((index) => offered[index] === undefined);
    if (unknown !== undefined) {
      throw wireError(
        `Opened chose response encoding ${unknown} of the ${offered.length} that were offered`,
      );
    }
    this.#codecs = offered.map(({ compression }, index) =>
      agreed.length === 0 || agreed.includes(index) ? codecNamed(compression) : undefined,
    );
    this.#bytesMax = bytesMax;
    this.takesTime = this.#codecs.some((codec) => codec !== undefined && codec.name !== 'identity');
  }

  /**
   * The response as the SUT's post-processing made it; the payload itself if uncompressed.
   * @param encoding Completed.encoding.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` if the encoding was not agreed on, or the payload is
   * corrupt or too large.
   */
  decode(encoding: number, payload: BorrowedBytes): BorrowedBytes {
    const codec = this.#codecs[encoding];
    if (codec === undefined) {
      throw wireError(`response encoding ${encoding} was not agreed on when the stream was opened`);
    }
    return codec.decompress(payload, this.#bytesMax);
  }
}
