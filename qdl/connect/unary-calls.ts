import { type ServiceError, status } from '@grpc/grpc-js';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { errorCodeOf, grpcToMlperfError } from '../../shared/base/errors/to-mlperf-error.ts';
import type { ClientSecurity } from '../../shared/security/client-security.ts';
import { unreachableMessage } from '../../shared/security/connection-errors.ts';

/** What grpc-js calls back with. */
type Callback<R> = (error: ServiceError | null, response?: R) => void;

/** Starts a call of a client of grpc-js. */
export type StartCall<R> = (deadline: Date, callback: Callback<R>) => void;

/** How unary calls to one node are made: each with a deadline, each failure in words. */
export class UnaryCalls {
  readonly #address: string;
  readonly #timeoutMs: number;
  readonly #security: ClientSecurity;
  readonly #who: 'SUT node' | 'inference server';

  constructor(
    address: string,
    settings: { readonly callTimeoutMs: number; readonly security: ClientSecurity },
    who: 'SUT node' | 'inference server' = 'SUT node',
  ) {
    this.#who = who;
    this.#address = address;
    this.#timeoutMs = settings.callTimeoutMs;
    this.#security = settings.security;
  }

  /**
   * Makes one call.
   * @param timeoutMs Longest wait, in place of the usual one.
   * @throws MlperfError `ERR_SUT_UNREACHABLE` without an answer, `ERR_SUT_REFUSED` for most statuses; gRPC's error is
   *   its cause.
   */
  make<R>(method: string, start: StartCall<R>, timeoutMs: number = this.#timeoutMs): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      start(new Date(Date.now() + timeoutMs), (error, response) => {
        if (response !== undefined && error === null) resolve(response);
        else reject(this.#describeFailure(method, error));
      });
    });
  }

  /** As {@link make}; a node need not implement everything: undefined where it does not. */
  async makeOptional<R>(
    method: string,
    start: StartCall<R>,
    timeoutMs?: number,
  ): Promise<R | undefined> {
    try {
      return await this.make(method, start, timeoutMs);
    } catch (error) {
      if (grpcStatusOf(error) === status.UNIMPLEMENTED) return undefined;
      throw error;
    }
  }

  #describeFailure(method: string, error: ServiceError | null): MlperfError {
    const failure = grpcToMlperfError(error, `${method} of ${this.#who} ${this.#address} failed`);
    if (failure.code !== 'ERR_SUT_UNREACHABLE' && failure.code !== 'ERR_TIMEOUT') return failure;
    return new MlperfError(
      'ERR_SUT_UNREACHABLE',
      unreachableMessage(this.#address, error?.details ?? '', this.#security, this.#who),
      { cause: error },
    );
  }
}

/** gRPC's status of a call that failed in {@link UnaryCalls}; undefined for any other error. */
export function grpcStatusOf(error: unknown): number | undefined {
  const code = errorCodeOf(error instanceof MlperfError ? error.cause : undefined);
  return typeof code === 'number' ? code : undefined;
}
