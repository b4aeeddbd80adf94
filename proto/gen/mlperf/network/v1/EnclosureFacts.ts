// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface EnclosureFacts {
  'vendor'?: (string);
  'product'?: (string);
  'virtualMachine'?: (string);
  'virtualMachineHow'?: (string);
  'container'?: (string);
  'containerHow'?: (string);
  'cpuLimit'?: (number | string);
  'memoryLimitBytes'?: (number | string | Long);
}

export interface EnclosureFacts__Output {
  'vendor': (string);
  'product': (string);
  'virtualMachine': (string);
  'virtualMachineHow': (string);
  'container': (string);
  'containerHow': (string);
  'cpuLimit': (number);
  'memoryLimitBytes': (number);
}
