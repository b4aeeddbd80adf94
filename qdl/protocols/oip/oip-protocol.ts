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
};
