import type { Protocol } from '../../dispatch/protocol.ts';

/** longhaul's own protocol: `mlperf.network.v1`. */
export const NATIVE_PROTOCOL: Protocol = {
  name: 'longhaul',
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
    hasTraceparent: false,
    hasCompression: true,
    hasStreams: true,
  },
  words: {
    nameCall: 'Name',
    methods: {},
    idleStreams: '',
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
};
