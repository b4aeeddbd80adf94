import {
  type Client,
  Metadata,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import {
  errorCodeOf,
  grpcToMlperfError,
  MlperfError,
  sutUnreachable,
} from '../../shared/base/errors/mlperf-error.ts';
import type { OwnSide } from '../../shared/evidence/call-path.ts';
import { unreachableMessage } from '../../shared/security/connection-errors.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { responseHeadersOf, socketEndsOf } from './call-path.ts';
import { callMetadata, connectClient } from './grpc-options.ts';

/** What a method of a service takes and answers, of the types that are generated from its proto file. */
type RequestOf<Method> = Method extends { requestSerialize: (request: infer Request) => Buffer }
  ? Request
  : never;
type AnswerOf<Method> = Method extends { responseDeserialize: (bytes: Buffer) => infer Answer }
  ? Answer
  : never;

type AnyMethod = ServiceDefinition[string];

/** The unary calls to one node, on a connection of their own: each with a deadline, each failure in words. */
export class UnaryCalls<Methods extends ServiceDefinition> {
  readonly client: Client;
  /** Of every call: the token, where there is one. */
  readonly metadata: Metadata;
  readonly #address: string;
  readonly #settings: DispatchSettings;
  readonly #methods: Methods;
  readonly #service: string;
  readonly #who: 'SUT node' | 'inference server';

  /**
   * @param service Full name under which the node has the methods.
   * @throws MlperfError `ERR_CONFIG_INVALID` when a file of its security cannot be used.
   */
  constructor(
    address: string,
    settings: DispatchSettings,
    methods: Methods,
    service: string,
    who: 'SUT node' | 'inference server' = 'SUT node',
  ) {
    this.#address = address;
    this.#settings = settings;
    this.#methods = methods;
    this.#service = service;
    this.#who = who;
    this.metadata = callMetadata(settings);
    this.client = connectClient(address, settings);
  }

  /**
   * Makes one call.
   * @param timeoutMs Longest wait, in place of the usual one.
   * @param onHeaders Takes the headers of the answer.
   * @throws MlperfError `ERR_SUT_UNREACHABLE` without an answer, `ERR_SUT_REFUSED` for most statuses; gRPC's error is
   *   its cause.
   */
  make<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
    timeoutMs: number = this.#settings.callTimeoutMs,
    onHeaders: (headers: Metadata) => void = () => {},
  ): Promise<AnswerOf<Methods[M]>> {
    const { requestSerialize, responseDeserialize } = this.#methods[method] as AnyMethod;
    return new Promise((resolve, reject) => {
      const call = this.client.makeUnaryRequest<RequestOf<Methods[M]>, AnswerOf<Methods[M]>>(
        `/${this.#service}/${method}`,
        requestSerialize,
        responseDeserialize,
        request,
        this.metadata,
        { deadline: new Date(Date.now() + timeoutMs) },
        (error, response) => {
          if (response !== undefined && error === null) resolve(response);
          else reject(this.#describeFailure(method, error));
        },
      );
      call.on('metadata', onHeaders);
    });
  }

  /** As {@link make}; a node need not implement everything: undefined where it does not. */
  async makeOptional<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
    timeoutMs?: number,
  ): Promise<AnswerOf<Methods[M]> | undefined> {
    try {
      return await this.make(method, request, timeoutMs);
    } catch (error) {
      if (grpcStatusOf(error) === status.UNIMPLEMENTED) return undefined;
      throw error;
    }
  }

  /** As {@link make}, with its round trip in ns and what this end knows of the call, whether it was answered or failed. */
  async makeTimed<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
  ): Promise<{
    readonly outcome: PromiseSettledResult<AnswerOf<Methods[M]>>;
    readonly roundTripNs: number;
    readonly own: OwnSide;
  }> {
    let headers = new Metadata();
    const begin = performance.now();
    const call = this.make(method, request, undefined, (answer) => {
      headers = answer;
    });
    const [outcome] = await Promise.allSettled([call]);
    const roundTripNs = Math.round((performance.now() - begin) * 1e6);
    const loadgen = socketEndsOf(this.client.getChannel());
    return { outcome, roundTripNs, own: { loadgen, responseHeaders: responseHeadersOf(headers) } };
  }

  close(): void {
    this.client.close();
  }

  #describeFailure(method: string, error: ServiceError | null): MlperfError {
    const failure = grpcToMlperfError(error, `${method} of ${this.#who} ${this.#address} failed`);
    if (failure.code !== 'ERR_SUT_UNREACHABLE' && failure.code !== 'ERR_TIMEOUT') return failure;
    const details = error?.details ?? '';
    const { security } = this.#settings;
    return sutUnreachable(unreachableMessage(this.#address, details, security, this.#who), error);
  }
}

/** gRPC's status of a call that failed in {@link UnaryCalls}; undefined for any other error. */
export function grpcStatusOf(error: unknown): number | undefined {
  const code = errorCodeOf(error instanceof MlperfError ? error.cause : undefined);
  return typeof code === 'number' ? code : undefined;
}
