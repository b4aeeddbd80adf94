import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { onTestFinished } from 'vitest';
import { protoFolder } from '../../../shared/base/files/package-files.ts';

/** A tensor as metadata have it. */
interface FakeTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

/** A model of the server. */
export interface FakeModel {
  readonly name: string;
  readonly inputs: readonly FakeTensor[];
  readonly outputs: readonly FakeTensor[];
  readonly versions?: readonly string[];
  readonly platform?: string;
  /** Undefined: the server has no ModelConfig. */
  readonly batchSizeMax?: number;
  readonly isDecoupled?: boolean;
}

/** What a server has. */
interface FakeOipServer {
  readonly models: readonly FakeModel[];
  /** What RepositoryIndex tells beside the models; undefined: there is no such method. */
  readonly others?: readonly {
    readonly name: string;
    readonly state: string;
    readonly reason: string;
  }[];
  readonly name?: string;
  readonly credentials?: grpc.ServerCredentials;
  /** Package of the service in place of the standard's. */
  readonly package?: string;
}

type Handlers = grpc.UntypedServiceImplementation;
type Unary<Q> = grpc.handleUnaryCall<Q, object>;

interface InferRequest {
  readonly id: string;
  readonly modelName: string;
  readonly inputs: readonly { readonly shape: readonly number[] }[];
}

/**
 * Starts a server of the Open Inference Protocol on a free port of loopback, made of grpc-js and the .proto alone. It answers
 * ModelInfer with zeros of the outputs' shapes.
 * @returns Its address. It is ended with the running test.
 */
export async function startFakeOipServer(fake: FakeOipServer): Promise<string> {
  const definition = loadSync('inference/open_inference.proto', {
    includeDirs: [protoFolder()],
    longs: Number,
    defaults: true,
  });
  const standard = definition['inference.GRPCInferenceService'] as grpc.ServiceDefinition;
  const service = Object.fromEntries(
    Object.entries(standard).map(([name, method]) => [
      name,
      { ...method, path: method.path.replace('inference', fake.package ?? 'inference') },
    ]),
  );
  const server = new grpc.Server();
  server.addService(service, handlersOf(fake));
  const credentials = fake.credentials ?? grpc.ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  onTestFinished(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

function handlersOf({ models, others, name = 'triton' }: FakeOipServer): Handlers {
  const answer =
    (value: object): Unary<unknown> =>
    (_call, callback) =>
      callback(null, value);
  const ofModel =
    (tell: (model: FakeModel) => object | undefined): Unary<{ name: string }> =>
    ({ request }, callback) => {
      const model = models.find((one) => one.name === request.name);
      const found = model === undefined ? undefined : tell(model);
      const code = model === undefined ? grpc.status.NOT_FOUND : grpc.status.UNIMPLEMENTED;
      if (found === undefined) callback({ code, details: `unknown model ${request.name}` });
      else callback(null, found);
    };
  const index = models.map((model) => ({ name: model.name, version: '1', state: 'READY' }));
  return {
    ServerLive: answer({ live: true }),
    ServerReady: answer({ ready: true }),
    ServerMetadata: answer({ name, version: '2.51.0', extensions: ['model_repository'] }),
    ModelReady: ofModel(() => ({ ready: true })),
    ModelMetadata: ofModel(({ versions = ['1'], platform = 'onnx', ...model }) => ({
      ...{ versions, platform, name: model.name },
      ...{ inputs: model.inputs, outputs: model.outputs },
    })),
    ModelConfig: ofModel(({ name: own, batchSizeMax: max, isDecoupled: decoupled = false }) =>
      max === undefined
        ? undefined
        : { config: { name: own, maxBatchSize: max, modelTransactionPolicy: { decoupled } } },
    ),
    ModelInfer: ((call, callback) =>
      callback(null, zerosFor(models, call.request))) as Unary<InferRequest>,
    ...(others !== undefined && { RepositoryIndex: answer({ models: [...index, ...others] }) }),
  };
}

/** Zeros of FP32, as many samples as the request has. */
function zerosFor(models: readonly FakeModel[], { id, modelName, inputs }: InferRequest): object {
  const model = models.find((one) => one.name === modelName);
  const outputs = (model?.outputs ?? []).map(({ shape, ...tensor }) => ({
    ...tensor,
    shape: shape.map((length, axis) => (length === -1 ? (inputs[0]?.shape[axis] ?? 1) : length)),
  }));
  const rawOutputContents = outputs.map(({ shape }) =>
    Buffer.alloc(shape.reduce((product, length) => product * length, 4)),
  );
  return { modelName, id, outputs, rawOutputContents };
}
