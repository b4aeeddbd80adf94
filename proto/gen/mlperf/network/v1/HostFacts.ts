// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface HostFacts {
  'hostname'?: (string);
  'bootId'?: (string);
  'operatingSystem'?: (string);
  'cpuModel'?: (string);
  'cpuCount'?: (number);
  'memoryBytes'?: (number | string | Long);
  'addresses'?: (string)[];
}

export interface HostFacts__Output {
  'hostname': (string);
  'bootId': (string);
  'operatingSystem': (string);
  'cpuModel': (string);
  'cpuCount': (number);
  'memoryBytes': (number);
  'addresses': (string)[];
}
