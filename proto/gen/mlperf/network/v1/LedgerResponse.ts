// Original file: proto/mlperf/network/v1/sut.proto

import type { Encoding as _mlperf_network_v1_Encoding, Encoding__Output as _mlperf_network_v1_Encoding__Output } from '../../../mlperf/network/v1/Encoding.ts';
import type { Long } from '@grpc/proto-loader';

export interface LedgerResponse {
  'runId'?: (string);
  'known'?: (boolean);
  'queryCount'?: (number | string | Long);
  'partCount'?: (number | string | Long);
  'sampleCount'?: (number | string | Long);
  'payloadBytes'?: (number | string | Long);
  'completedCount'?: (number | string | Long);
  'failedCount'?: (number | string | Long);
  'responseBytes'?: (number | string | Long);
  'payloadDigest'?: (Buffer | Uint8Array | string);
  'digestedSampleCount'?: (number | string | Long);
  'encodings'?: (_mlperf_network_v1_Encoding)[];
  'streamCount'?: (number);
  'nodeIdentity'?: (string);
  'repeatedStreamCount'?: (number);
  'replacedWorkerCount'?: (number);
  'otherSampleCount'?: (number | string | Long);
  'otherAddresses'?: (string)[];
}

export interface LedgerResponse__Output {
  'runId': (string);
  'known': (boolean);
  'queryCount': (number);
  'partCount': (number);
  'sampleCount': (number);
  'payloadBytes': (number);
  'completedCount': (number);
  'failedCount': (number);
  'responseBytes': (number);
  'payloadDigest': (Buffer);
  'digestedSampleCount': (number);
  'encodings': (_mlperf_network_v1_Encoding__Output)[];
  'streamCount': (number);
  'nodeIdentity': (string);
  'repeatedStreamCount': (number);
  'replacedWorkerCount': (number);
  'otherSampleCount': (number);
  'otherAddresses': (string)[];
}
