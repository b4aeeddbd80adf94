import type { DispatchSettings } from '../../../qdl/index.ts';
import {
  knownProtocols,
  PROTOCOL_OPTIONS,
  type Protocol,
  type ProtocolRunValues,
  protocolOf,
  serverSchemes,
  withoutScheme,
} from '../../../qdl/protocols/index.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { flagOf, type SettingValues, text, textList } from '../../../shared/config/setting.ts';
import { DATA_SOURCE_FORM, parseDataSource } from '../../samples/model-inputs/data-source.ts';

const { model, ...otherOptions } = PROTOCOL_OPTIONS;

/** Settings for runs of any model: its samples, and its connection. */
export const RUN_MODEL_OPTIONS = {
  model,
  data: text(
    DATA_SOURCE_FORM,
    "samples of the shape of the model's inputs, in place of a benchmark's data set",
  ),
  inputShape: textList(
    'name[:datatype]:3x224x224[,...]',
    `with --data: lengths of the axes of one sample where the model leaves them free, -1 where the samples bring them; ${serverSchemes()}, with a datatype: an input of a server that does not report its inputs`,
  ),
  ...otherOptions,
};

/** Values for a run without these settings. */
export const NO_MODEL_VALUES = Object.fromEntries(
  Object.keys(RUN_MODEL_OPTIONS).map((key) => [key, undefined]),
) as { readonly [K in keyof typeof RUN_MODEL_OPTIONS]: undefined }; // Those keys.

/**
 * Benchmark of a run that names none: the model's own, if the protocol's servers can serve any
 * model. Also if only their settings were given: the error then reports the missing scheme, not a
 * missing benchmark.
 */
export function benchmarkWithout(rawOf: (key: string) => unknown): string | undefined {
  const sut = rawOf('sut');
  const first: unknown = Array.isArray(sut) ? sut[0] : undefined;
  const isServer = typeof first === 'string' && protocolOf(first).traits.peer === 'server';
  return isServer || Object.keys(RUN_MODEL_OPTIONS).some((key) => rawOf(key) !== undefined)
    ? 'custom'
    : undefined;
}

/** The protocol that all addresses of a list share. */
function protocolOfList([first = '']: readonly string[]): Protocol {
  return protocolOf(first);
}

/**
 * Addresses without their scheme, and the protocol's facts about the nodes.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings of another protocol
 */
export function nodesOfRun(
  sut: readonly string[],
  values: Readonly<Record<string, unknown>>,
): Pick<DispatchSettings, 'nodes' | 'protocol'> {
  const protocol = protocolOfList(sut);
  refuseOptionsOfOthers(values, protocol, sut);
  return { nodes: sut.map(withoutScheme), protocol: protocol.settings(values) };
}

/** Values that the connection to a run's nodes depends on. */
interface ModelRunValues extends SettingValues<typeof RUN_MODEL_OPTIONS> {
  readonly sut: readonly string[];
  readonly benchmark: string;
  readonly encoding: string | undefined;
  readonly dataDir: string | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
}

/**
 * The protocol of a run, its preparation, and the samples of `--data` (undefined: the benchmark's).
 * @param values All values of the run.
 * @param said Keys of the explicitly set values.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings that contradict each other, or that the
 *   protocol does not support
 */
export function planProtocol(values: ModelRunValues, said: ReadonlySet<string>) {
  const { sut, data, dataSeed, dataCount } = values;
  const protocol = protocolOfList(sut);
  const given: ProtocolRunValues = { ...values };
  refuseOptionsOfOthers(given, protocol, sut);
  refuseLacking(given, protocol, said);
  for (const why of dataObstacles(values)) throw configInvalid(why);
  const preparation = protocol.plan(given);
  const source = data === undefined ? undefined : parseDataSource(data);
  return { protocol, preparation, data: source && { source, dataSeed, dataCount } };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for settings of another protocol than the nodes' */
function refuseOptionsOfOthers(
  values: Readonly<Record<string, unknown>>,
  { options: own }: Protocol,
  [first]: readonly string[],
): void {
  for (const { options, title, scheme } of knownProtocols()) {
    const said = Object.keys(options).find((key) => !(key in own) && values[key] !== undefined);
    if (said === undefined) continue;
    throw configInvalid(
      `${flagOf(said)} is for servers of ${title}: --sut ${scheme}://${withoutScheme(first ?? 'HOST:PORT')}`,
    );
  }
}

/** A setting that only some protocols support. */
interface TraitSetting {
  /** Value without effect. */
  readonly neutral: unknown;
  readonly lacks: (traits: Protocol['traits']) => boolean;
  readonly inWords?: (value: never) => string;
}

const TRAIT_SETTINGS: Readonly<Record<string, TraitSetting>> = {
  compression: { neutral: 'identity', lacks: ({ hasCompression }) => !hasCompression },
  compressionScope: { neutral: 'sample', lacks: ({ hasCompression }) => !hasCompression },
  responseCompression: { neutral: ['identity'], lacks: ({ hasCompression }) => !hasCompression },
  tokenTimes: { neutral: false, lacks: ({ tokenTimes }) => tokenTimes !== 'each' },
  digest: { neutral: 0, lacks: ({ hasDigests }) => !hasDigests },
  warmUp: { neutral: 0, lacks: ({ hasWarmUp }) => !hasWarmUp, inWords: formatNs },
  partBytesMax: { neutral: undefined, lacks: ({ message }) => message !== 'part' },
};

function refuseLacking(
  values: Readonly<Record<string, unknown>>,
  { traits, scheme, title, reasons = {} }: Protocol,
  said: ReadonlySet<string>,
): void {
  for (const key of new Set([...Object.keys(TRAIT_SETTINGS), ...Object.keys(reasons)])) {
    // A setting without a trait has no effect if the protocol gives a reason.
    const row = TRAIT_SETTINGS[key] ?? { neutral: undefined, lacks: () => true };
    const { neutral, lacks, inWords = String } = row;
    const value = values[key];
    if (!lacks(traits) || !said.has(key) || JSON.stringify(value) === JSON.stringify(neutral)) {
      continue;
    }
    const why = reasons[key] ?? `${title} has nothing for it`;
    throw configInvalid(
      `${flagOf(key)} ${inWords(value as never)} has no effect with ${scheme}://: ${why}`,
    );
  }
}

function* dataObstacles({ data, benchmark, encoding, dataDir }: ModelRunValues): Generator<string> {
  if (data === undefined) return;
  if (benchmark !== 'custom')
    yield `--data ${data} and --benchmark ${benchmark}: samples are those of one of them; leave one out`;
  if (dataDir !== undefined)
    yield `--data ${data} and --data-dir ${dataDir}: samples come from one of them`;
  if (encoding !== undefined)
    yield `--encoding ${encoding} is of a benchmark's data set; --data ${data} has none`;
}
