// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface NodeUsage {
  'intervalNs'?: (number | string | Long);
  'cpuNs'?: (number | string | Long);
  'residentBytes'?: (number | string | Long);
  'machineBusyNs'?: (number | string | Long);
  '_machineBusyNs'?: "machineBusyNs";
}

export interface NodeUsage__Output {
  'intervalNs': (number);
  'cpuNs': (number);
  'residentBytes': (number);
  'machineBusyNs'?: (number);
  '_machineBusyNs'?: "machineBusyNs";
}
