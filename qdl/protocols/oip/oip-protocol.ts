import type { Protocol } from '../../dispatch/protocol.ts';

/** The Open Inference Protocol over gRPC. */
export const OIP_PROTOCOL: Protocol = {
  name: 'oip',
  title: 'the Open Inference Protocol',
  scheme: 'oip',
  traits: {
    peer: 'server',
    message: 'request',
    hasLedger: false,
    hasDigests: false,
    hasNameEcho: false,
    hasDurations: false,
    tokenTimes: 'first',
    hasWarmUp: false,
    hasTraceparent: true,
    hasCompression: false,
    hasStreams: true,
  },
  words: {
    nameCall: 'ServerMetadata',
    methods: {
      unary: 'ModelInfer',
      stream: 'ModelStreamInfer',
      'stream-per-request': 'ModelStreamInfer, a stream per request',
    },
    idleStreams: '--oip-method unary has no idle stream',
    evidence: {
      shown: [
        'The Open Inference Protocol has no ledger, no digests, no identity of a node, no facts of its host and no settings: ' +
          'what arrived, and where, is known to the server alone. What holds here holds by what this end counted, and by ' +
          'construction for the source code of this LoadGen node. An answer before the last byte of its request is found.',
        'A proxy or a load balancer before a server, a server that answers from a cache, and two addresses that lead to one ' +
          'server are not found. Statistics of a server are its own, and other clients are in them.',
      ],
      proxies: '',
      beyond:
        'For evidence of both ends run longhaul on the SUT node, which speaks this protocol as well, and measure it over its own.',
    },
  },
};
