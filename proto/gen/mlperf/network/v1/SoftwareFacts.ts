// Original file: proto/mlperf/network/v1/sut.proto

import type { ComponentVersion as _mlperf_network_v1_ComponentVersion, ComponentVersion__Output as _mlperf_network_v1_ComponentVersion__Output } from '../../../mlperf/network/v1/ComponentVersion.ts';

export interface SoftwareFacts {
  'operatingSystem'?: (string);
  'kernel'?: (string);
  'components'?: (_mlperf_network_v1_ComponentVersion)[];
}

export interface SoftwareFacts__Output {
  'operatingSystem': (string);
  'kernel': (string);
  'components': (_mlperf_network_v1_ComponentVersion__Output)[];
}
