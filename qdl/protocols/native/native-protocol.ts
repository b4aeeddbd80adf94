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
        'Both ends counted on their own, and the counts were compared: a query that was lost, sent twice, ' +
          'merged with another or padded, or a node that was exchanged, is found. So is a response before its sample, since ' +
          'ids cannot be guessed. A payload that was changed but kept its length is found only among the digested samples ' +
          '(--digest 100: all).',
        "It is no proof against a SUT node that lies: the author of a node's software decides what it " +
          'counts and reports. A rule that holds by construction holds for the source code of this LoadGen node.',
      ],
      proxies:
        'A proxy that deliberately copies the addresses, ports and headers of both ends is not found.',
      beyond:
        'No protocol shows what a node caches, what lies below TCP, or whether two systems are two machines: ' +
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

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` for `--input-shape` without `--data`, and for a datatype
 * in `--input-shape`, which the SUT node reports
 */
function planNative({ data, inputShape = [] }: ProtocolRunValues): Preparation {
  if (data === undefined) {
    if (inputShape.length === 0) return { prepare: null, preparePayloads: null };
    throw configInvalid(
      `--input-shape ${inputShape.join(',')} is for samples that follow the model; add --data random, npy:DIR or jsonl:FILE`,
    );
  }
  const { inputShapes, declaredInputs } = parseInputShapes(inputShape);
  const [declared] = declaredInputs;
  if (declared !== undefined) {
    const { name, shape } = declared;
    throw configInvalid(
      `--input-shape ${name}:${declared.datatype}:${shape.join('x')}: remove the datatype, which the SUT node reports; use ${name}:${shape.join('x')}`,
    );
  }
  const load = () => import('./native-data.ts');
  return {
    prepare: async (run) => (await load()).prepareNativeData(inputShapes, run),
    preparePayloads: null,
  };
}
