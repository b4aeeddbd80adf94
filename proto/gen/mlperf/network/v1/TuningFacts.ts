// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface TuningFacts {
  'governors'?: (string)[];
  'limitMhz'?: (number | string);
  'hardwareMhz'?: (number | string);
  'clockSource'?: (string);
  'stealShare'?: (number | string);
  'busyShare'?: (number | string);
  'usableCpus'?: (number);
  'quotaCpus'?: (number | string);
  'quotaPeriods'?: (number | string | Long);
  'throttledPeriods'?: (number | string | Long);
  'openFilesMax'?: (number | string | Long);
  'availableBytes'?: (number | string | Long);
  'tcpReceiveBytesMax'?: (number | string | Long);
  'tcpSendBytesMax'?: (number | string | Long);
  'runtimeFlags'?: (string)[];
  'usableCores'?: (number);
  'usableNumaNodes'?: (number);
  'isolatedCpus'?: (number);
  'usableIsolatedCpus'?: (number);
  'interruptCpus'?: (number);
  'usableInterruptCpus'?: (number);
  'hasIrqBalancer'?: (boolean);
  'wakeUpUsMax'?: (number | string);
  'energyPreferences'?: (string)[];
  'cpuWeight'?: (number | string);
  'hugePageMode'?: (string);
  'swapUsedBytes'?: (number | string | Long);
  'swappedBytes'?: (number | string | Long);
  'lockedBytesMax'?: (number | string | Long);
  '_stealShare'?: "stealShare";
  '_busyShare'?: "busyShare";
  '_quotaPeriods'?: "quotaPeriods";
  '_throttledPeriods'?: "throttledPeriods";
  '_isolatedCpus'?: "isolatedCpus";
  '_usableIsolatedCpus'?: "usableIsolatedCpus";
  '_usableInterruptCpus'?: "usableInterruptCpus";
  '_swapUsedBytes'?: "swapUsedBytes";
  '_swappedBytes'?: "swappedBytes";
}

export interface TuningFacts__Output {
  'governors': (string)[];
  'limitMhz': (number);
  'hardwareMhz': (number);
  'clockSource': (string);
  'stealShare'?: (number);
  'busyShare'?: (number);
  'usableCpus': (number);
  'quotaCpus': (number);
  'quotaPeriods'?: (number);
  'throttledPeriods'?: (number);
  'openFilesMax': (number);
  'availableBytes': (number);
  'tcpReceiveBytesMax': (number);
  'tcpSendBytesMax': (number);
  'runtimeFlags': (string)[];
  'usableCores': (number);
  'usableNumaNodes': (number);
  'isolatedCpus'?: (number);
  'usableIsolatedCpus'?: (number);
  'interruptCpus': (number);
  'usableInterruptCpus'?: (number);
  'hasIrqBalancer': (boolean);
  'wakeUpUsMax': (number);
  'energyPreferences': (string)[];
  'cpuWeight': (number);
  'hugePageMode': (string);
  'swapUsedBytes'?: (number);
  'swappedBytes'?: (number);
  'lockedBytesMax': (number);
  '_stealShare'?: "stealShare";
  '_busyShare'?: "busyShare";
  '_quotaPeriods'?: "quotaPeriods";
  '_throttledPeriods'?: "throttledPeriods";
  '_isolatedCpus'?: "isolatedCpus";
  '_usableIsolatedCpus'?: "usableIsolatedCpus";
  '_usableInterruptCpus'?: "usableInterruptCpus";
  '_swapUsedBytes'?: "swapUsedBytes";
  '_swappedBytes'?: "swappedBytes";
}
