import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type {
  OutputTensor,
  PipelineInput,
  ResponseNumber,
  TensorElements,
} from '../model/model-facts.ts';

/** Turns the payload of one sample into elements of the model's inputs. Timed work of the SUT. */
export interface Preprocessor {
  /** Forms of payload that it reads; at least one. */
  readonly forms: readonly string[];
  /**
   * Forms of which the payload is the sample's elements of the only input, byte for byte: such payloads need
   * not be copied where they already lie one behind the other.
   */
  readonly tensorForms: readonly string[];
  /**
   * Common length of all free axes ({@link PipelineInput.sampleShape}) of a sample whose payload has so many
   * bytes, 1 or more. Where it is missing, no axis is free and every sample has the shapes of the inputs.
   * @throws Error when no length gives so many bytes.
   */
  lengthOf?(bytes: number): number;
  /**
   * Says whether a payload of one of {@link tensorForms} may go to the model as it is.
   * @throws Error saying what is wrong with it (byte count, not a number).
   */
  readonly checkTensor: (payload: BorrowedBytes, form: string) => void;
  /**
   * Decodes and pre-processes one sample.
   * @param targets Per input, exactly the sample's elements of the batch tensor, in the order of the
   *   pipeline's inputs.
   * @throws Error saying what is wrong with the payload (not an image, wrong byte count, ...).
   */
  readonly preprocess: (
    payload: BorrowedBytes,
    form: string,
    targets: readonly TensorElements[],
  ) => Promise<void>;
  /** A payload for warm-up, so that Ready is said only after every worker ran the model once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/** Turns the model's outputs into response bytes. Timed work of the SUT. */
export interface Postprocessor {
  /** Names of the outputs that it reads. */
  readonly outputNames: readonly string[];
  /**
   * Type of the one number that a response is. Absent: the response is the elements of those outputs, one behind the
   * other.
   */
  readonly responseNumber?: ResponseNumber | undefined;
  /** Response bytes of one sample (row of the batch) as the accuracy script reads them. */
  postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array;
}

/** What becomes of payloads before and of outputs after one loaded model. Made in the worker. */
export interface ModelPipeline extends Preprocessor, Postprocessor {
  readonly inputs: readonly PipelineInput[];
}
