// Original file: proto/mlperf/network/v1/sut.proto

import type { Sample as _mlperf_network_v1_Sample, Sample__Output as _mlperf_network_v1_Sample__Output } from '../../../mlperf/network/v1/Sample.ts';
import type { Long } from '@grpc/proto-loader';

export interface Part {
  'query'?: (number | string | Long);
  'querySampleCount'?: (number);
  'samples'?: (_mlperf_network_v1_Sample)[];
  'queryPayload'?: (Buffer | Uint8Array | string);
  'queryEncoding'?: (number);
  'querySampleBytes'?: (number | string | Long)[];
}

export interface Part__Output {
  'query': (number);
  'querySampleCount': (number);
  'samples': (_mlperf_network_v1_Sample__Output)[];
  'queryPayload': (Buffer);
  'queryEncoding': (number);
  'querySampleBytes': (number)[];
}
