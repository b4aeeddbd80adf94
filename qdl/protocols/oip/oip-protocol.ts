import type { Protocol } from '../../dispatch/protocol.ts';
import { GRPC_WIRE } from '../../http2/grpc-words.ts';
import {
  checkOipSettings,
  OIP_NAME,
  OIP_OPTIONS,
  OIP_SERVICE_OPTION,
  oipAsked,
  oipOf,
  oipSettingsOf,
} from './settings/oip-settings.ts';

const { sender, names } = GRPC_WIRE.answerHeaders;
/** Older servers of gRPC C-core send one header more. */
const ANSWER_HEADERS = { sender, names: [...names, 'accept-encoding'] };

const NO_COMPRESSION =
  'samples are sent uncompressed: no field of the protocol can state a compression';

/** The Open Inference Protocol over gRPC. */
export const OIP_PROTOCOL = {
  name: OIP_NAME,
  title: 'the Open Inference Protocol',
  scheme: 'oip',
  addressWords: {
    notHere:
      "speaks the Open Inference Protocol, this verb longhaul's own only; oip:// is for run, find-peak, sweep, compliance and probe (a SUT node of longhaul takes both: its address without oip:// will do)",
    form: 'must be oip://host:port for a server of the Open Inference Protocol, for example oip://10.0.0.4:8001',
    inPlaceOf: (target) =>
      `, or oip://${target} for the gRPC port of a server of the Open Inference Protocol (Triton, OVMS, KServe)`,
    inPlaceOfHttp:
      '; for a server of the Open Inference Protocol use oip:// and its gRPC port, for example oip://10.0.0.4:8001',
  },
  traits: {
    peer: 'server',
    message: 'request',
    hasLedger: false,
    hasDigests: false,
    hasNameEcho: false,
    hasDurations: false,
    tokenTimes: 'first',
    hasWarmUp: false,
    hasCompression: false,
  },
  words: {
    nameCall: 'ServerMetadata',
    methods: {
      unary: 'ModelInfer',
      stream: 'ModelStreamInfer',
      'stream-per-request': 'ModelStreamInfer, a stream per request',
    },
    idleStreams: '--oip-method unary keeps no idle stream',
    wire: { ...GRPC_WIRE, answerHeaders: ANSWER_HEADERS },
    evidence: {
      shown: [
        'The Open Inference Protocol has no ledger, no digests, no identity of a node, no facts of its host and no settings: ' +
          'only the server knows what arrived, and where. A rule that holds here holds by the counts of this end, and by ' +
          'construction for the source code of this LoadGen node. An answer before the last byte of its request is found.',
        'A proxy or a load balancer before a server, a server that answers from a cache, and two addresses that lead to one ' +
          "server are not found. A server's statistics are its own and include other clients.",
      ],
      proxies: '',
      beyond:
        'For evidence of both ends run longhaul on the SUT node and measure it over its own protocol.',
    },
  },
  options: OIP_OPTIONS,
  nameOptions: OIP_SERVICE_OPTION,
  reasons: {
    compression: NO_COMPRESSION,
    compressionScope: NO_COMPRESSION,
    responseCompression: 'no field of the protocol can state how a response is compressed',
    tokenTimes: 'its streams report a first response, and then the rest',
    digest: 'these servers compute no digests to compare with',
    warmUp: 'these servers would answer with their model, and count it',
    partBytesMax: '--oip-batch sets the samples of a request',
  },
  settings: oipSettingsOf,
  plan: (values) => {
    const asked = oipAsked(values);
    const load = () => import('./prepare/prepare-oip.ts');
    return {
      prepare: async (run) => (await load()).prepareOip(asked, run),
      preparePayloads: async (run) => (await load()).prepareOipPayloads(asked, run),
    };
  },
  check: checkOipSettings,
  hasHeaders: (settings) => (oipOf(settings).plan?.method ?? 'stream') !== 'stream',
  probe: async (address, settings) =>
    (await import('./probe-server.ts')).probeOipServer(address, settings),
  load: async () => {
    const { askOipNames, OipDriver } = await import('./oip-driver.ts');
    return { open: (settings) => new OipDriver(settings), askNames: askOipNames };
  },
} as const satisfies Protocol;
