import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { DispatchSettings } from '../dispatch-settings.ts';

/** How one node took a request that was made to try it. */
export interface OipTrial {
  readonly address: string;
  /** Null: it answered as planned. */
  readonly refusal: {
    /** gRPC's status; 0: it answered, with what the plan does not fit. In-band errors of a stream are 2 (UNKNOWN). */
    readonly code: number;
    /** The server's words, or what is wrong with its answer. */
    readonly details: string;
  } | null;
  /** Payload of the response, as LoadGen would get it; 0 with a refusal. */
  readonly responseBytes: number;
  /** Responses to the one request: above 1 of a decoupled model only. */
  readonly responseCount: number;
}

/**
 * Sends each node one request as the run would, untimed, and counts it nowhere.
 * @param settings With `oip` and its plan.
 * @param payload Of one sample, in the plan's form.
 * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_TIMEOUT`
 */
export async function tryOipRequest(
  _settings: DispatchSettings,
  _payload: Uint8Array,
): Promise<readonly OipTrial[]> {
  throw new MlperfError('ERR_INTERNAL', 'not there yet');
}
