import type { DispatchSettings } from '../../../qdl/index.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import {
  choice,
  count,
  flagOf,
  type SettingValues,
  text,
  textList,
} from '../../../shared/config/setting.ts';
import { isOipAddress, withoutOipScheme } from '../../../shared/domain/node-address.ts';
import { OIP_METHODS, OIP_SERVICE_NAME } from '../../../shared/wire/oip/request-plan.ts';
import {
  DATA_SOURCE_FORM,
  type DataAsked,
  type OipAsked,
  parseDataSource,
  parseInputShapes,
} from '../../samples/oip/oip-asked.ts';

const METHODS = ['auto', ...OIP_METHODS] as const;
const CONTENTS = ['auto', 'raw', 'typed'] as const;

/** Most samples of one query in one request. */
const BATCH_MAX = 4096;

/** Which service answers: also for verbs that ask for names alone. */
export const OIP_SERVICE_OPTION = {
  oipService: text(
    'pkg.Service',
    `oip://: gRPC's name of the service (default: ${OIP_SERVICE_NAME})`,
  ),
};

/** Settings of runs of any model: of its samples, and with oip:// of the way to it. */
export const OIP_OPTIONS = {
  model: text('name[:version]', 'oip://: model of the server'),
  data: text(
    DATA_SOURCE_FORM,
    "samples of the shape of the model's inputs, in place of a benchmark's data set",
  ),
  inputShape: textList(
    'name[:datatype]:3x224x224[,...]',
    'with --data: lengths of the axes of one sample where the model leaves them free, -1 where the samples bring them; oip://, with a datatype: an input of a server that does not report its inputs',
  ),
  oipMethod: choice(
    METHODS,
    'oip://: a ModelInfer call per request, long-lived ModelStreamInfer streams, or a stream per request (default: auto, the stream unless it limits the server)',
  ),
  oipContents: choice(
    CONTENTS,
    'oip://: raw_input_contents, or typed contents (default: auto, raw unless the server refuses it)',
  ),
  oipBatch: count(
    { min: 1, max: BATCH_MAX },
    'oip://: samples of one query in one request, at most (default: 1)',
  ),
  ...OIP_SERVICE_OPTION,
};

/** Values of a run without these settings. */
export const NO_OIP_VALUES = Object.fromEntries(
  Object.keys(OIP_OPTIONS).map((key) => [key, undefined]),
) as { readonly [K in keyof typeof OIP_OPTIONS]: undefined }; // Those keys.

/**
 * Benchmark of a run that names none: the model's own, where servers can have any model. Also where only their settings
 * were given: the error then names the missing oip://, not a missing benchmark.
 */
export function benchmarkWithout(rawOf: (key: string) => unknown): string | undefined {
  const sut = rawOf('sut');
  const first: unknown = Array.isArray(sut) ? sut[0] : undefined;
  const isOip = typeof first === 'string' && isOipAddress(first);
  return isOip || Object.keys(OIP_OPTIONS).some((key) => rawOf(key) !== undefined)
    ? 'custom'
    : undefined;
}

type OipValues = Partial<SettingValues<typeof OIP_OPTIONS>>;

/**
 * Addresses without their protocol, and the service and model behind them.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a model that has no name
 */
export function nodesOfRun(
  sut: readonly string[],
  { model = '', oipService }: OipValues,
): Pick<DispatchSettings, 'nodes' | 'oip'> {
  const nodes = sut.map(withoutOipScheme);
  if (!sut.some(isOipAddress)) return { nodes };
  const [, name = model, version = ''] = /^(.+):([^:]*)$/s.exec(model) ?? [];
  return { nodes, oip: { service: oipService ?? OIP_SERVICE_NAME, model: { name, version } } };
}

/** Of a run, what its requests over the Open Inference Protocol depend on. */
interface OipRunValues extends SettingValues<typeof OIP_OPTIONS> {
  readonly sut: readonly string[];
  readonly benchmark: string;
  readonly encoding: string | undefined;
  readonly dataDir: string | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
}

/**
 * Settings for servers of the Open Inference Protocol; undefined where the nodes speak longhaul's
 * own.
 * @param values All values of the run.
 * @param said Keys of those that were given.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings of the other protocol
 */
export function oipAsked(values: OipRunValues, said: ReadonlySet<string>): OipAsked | undefined {
  const { sut, encoding, dataSeed, dataCount } = values;
  const { data: _data, inputShape: _inputShape, ...ofProtocol } = values;
  requireOipAddress(ofProtocol, sut);
  if (!sut.some(isOipAddress)) return undefined;
  refuseNativeSettings({ ...values }, said);
  for (const why of dataObstacles(values)) throw configInvalid(why);
  if (values.model === undefined) {
    throw configInvalid(
      `--model NAME is needed with oip://: "longhaul probe ${sut[0]}" shows what the server has`,
    );
  }
  return {
    method: values.oipMethod ?? 'auto',
    contents: values.oipContents ?? 'auto',
    samplesPerRequest: values.oipBatch ?? 1,
    ...parseInputShapes(values.inputShape ?? []),
    data: values.data === undefined ? undefined : parseDataSource(values.data),
    dataSeed,
    dataCount,
    isEncodingSaid: encoding !== undefined,
  };
}

/**
 * Samples of `--data` for nodes that speak longhaul's own protocol; undefined where the data set is the benchmark's.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings that contradict each other
 */
export function dataAsked(values: OipRunValues): DataAsked | undefined {
  const { sut, data, inputShape = [], dataSeed, dataCount } = values;
  if (sut.some(isOipAddress)) return undefined;
  if (data === undefined) {
    if (inputShape.length === 0) return undefined;
    throw configInvalid(
      `--input-shape ${inputShape.join(',')} is for samples that follow the model: say --data random, npy:DIR or jsonl:FILE as well`,
    );
  }
  for (const why of dataObstacles(values)) throw configInvalid(why);
  const { inputShapes, declaredInputs } = parseInputShapes(inputShape);
  const [declared] = declaredInputs;
  if (declared !== undefined) {
    const { name, shape } = declared;
    throw configInvalid(
      `--input-shape ${name}:${declared.datatype}:${shape.join('x')}: a SUT node tells the datatypes of its model; say the lengths of one sample, ${name}:${shape.join('x')}`,
    );
  }
  return { data: parseDataSource(data), inputShapes, dataSeed, dataCount };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` where settings are for another protocol than that of the nodes */
export function requireOipAddress(values: OipValues, sut: readonly string[]): void {
  const [first] = sut;
  if (sut.some(isOipAddress)) return;
  const said = Object.keys(OIP_OPTIONS).find((key) => values[key as keyof OipValues] !== undefined);
  if (said === undefined) return;
  throw configInvalid(
    `${flagOf(said)} is for servers of the Open Inference Protocol: --sut oip://${first ?? 'HOST:PORT'}`,
  );
}

const NO_COMPRESSION =
  'samples travel as they are, as no part of the protocol says that they are compressed';

/** Settings of longhaul's own protocol: the value without effect, and why the other protocol lacks the setting. */
const NATIVE_ONLY = {
  compression: { neutral: 'identity', why: NO_COMPRESSION },
  compressionScope: { neutral: 'sample', why: NO_COMPRESSION },
  responseCompression: {
    neutral: ['identity'],
    why: 'no part of the protocol says how responses are compressed',
  },
  tokenTimes: { neutral: false, why: 'its streams tell a first response, and then the rest' },
  digest: { neutral: 0, why: 'these servers make no digests to compare with' },
  partBytesMax: { neutral: undefined, why: 'a request has the samples that --oip-batch says' },
};

function refuseNativeSettings(
  values: Readonly<Record<string, unknown>>,
  said: ReadonlySet<string>,
): void {
  for (const [key, { neutral, why }] of Object.entries(NATIVE_ONLY)) {
    const value = values[key];
    if (!said.has(key) || JSON.stringify(value) === JSON.stringify(neutral)) continue;
    throw configInvalid(`${flagOf(key)} ${String(value)} has no effect with oip://: ${why}`);
  }
}

function* dataObstacles({ data, benchmark, encoding, dataDir }: OipRunValues): Generator<string> {
  if (data === undefined) return;
  if (benchmark !== 'custom')
    yield `--data ${data} and --benchmark ${benchmark}: samples are those of one of them; leave one out`;
  if (dataDir !== undefined)
    yield `--data ${data} and --data-dir ${dataDir}: samples come from one of them`;
  if (encoding !== undefined)
    yield `--encoding ${encoding} is of a benchmark's data set; --data ${data} has none`;
}
