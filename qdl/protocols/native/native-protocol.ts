import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { parseInputShapes } from '../../../shared/domain/input-shapes.ts';
import type { Preparation } from '../../dispatch/preparation.ts';
import type { Protocol, ProtocolRunValues } from '../../dispatch/protocol.ts';
import { GRPC_WIRE } from '../../http2/grpc-words.ts';
import { DEFAULT_PROTOCOL, requireStreams } from '../../settings/dispatch-settings.ts';

/** longhaul's own protocol: `mlperf.network.v1`. */
export const NATIVE_PROTOCOL = {
  name: DEFAULT_PROTOCOL,
  title: "longhaul's own protocol",
  scheme: null,
  traits: {
    peer: 'sut-node',
    message: 'part',
    hasLedger: true,
    hasDigests: true,
    hasNameEcho: true,
    hasDurations: true,
    tokenTimes: 'each',
    hasWarmUp: true,
    hasCompression: true,
  },
  words: {
    nameCall: 'Name',
    methods: {},
    idleStreams: '',
    wire: GRPC_WIRE,
    evidence: {
      shown: [
        'Both ends counted on their own, and the counts were compared: a query that was lost, sent twice, put ' +
          'together with another or padded, and a node that was exchanged, are found. So is an answer before its sample, since ' +
          'ids cannot be guessed. A payload that was changed without changing its length is found among the digested samples only ' +
          '(--digest 100: all).',
        "It is no proof against a SUT node that lies: the author of a node's software decides what it " +
          'counts and tells. Rules that hold by construction hold for the source code of this LoadGen node.',
      ],
      proxies:
        'A proxy that takes over addresses, ports and headers of both ends on purpose is not found.',
      beyond:
        'What a node keeps, what lies below TCP, and whether two systems are two machines, no protocol shows: ' +
        'that is for the submission and its review.',
    },
  },
  options: {},
  nameOptions: {},
  settings: () => ({ name: DEFAULT_PROTOCOL }),
  plan: planNative,
  check: requireStreams,
  hasHeaders: () => false,
  load: async () => {
    const { askNativeNames, NativeDriver } = await import('./native-driver.ts');
    return {
      open: (settings, payloads) => new NativeDriver(settings, payloads),
      askNames: askNativeNames,
    };
  },
} as const satisfies Protocol;

/** @throws MlperfError `ERR_CONFIG_INVALID` for shapes of no samples, and for datatypes, which a SUT node tells */
function planNative({ data, inputShape = [] }: ProtocolRunValues): Preparation {
  if (data === undefined) {
    if (inputShape.length === 0) return { prepare: null, preparePayloads: null };
    throw configInvalid(
      `--input-shape ${inputShape.join(',')} is for samples that follow the model: say --data random, npy:DIR or jsonl:FILE as well`,
    );
  }
  const { inputShapes, declaredInputs } = parseInputShapes(inputShape);
  const [declared] = declaredInputs;
  if (declared !== undefined) {
    const { name, shape } = declared;
    throw configInvalid(
      `--input-shape ${name}:${declared.datatype}:${shape.join('x')}: a SUT node tells the datatypes of its model; say the lengths of one sample, ${name}:${shape.join('x')}`,
    );
  }
  const load = () => import('./native-data.ts');
  return {
    prepare: async (run) => (await load()).prepareNativeData(inputShapes, run),
    preparePayloads: null,
  };
}
