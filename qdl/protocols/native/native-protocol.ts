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
};
