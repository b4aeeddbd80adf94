// Original file: proto/mlperf/network/v1/sut.proto

import type { ComponentVersion as _mlperf_network_v1_ComponentVersion, ComponentVersion__Output as _mlperf_network_v1_ComponentVersion__Output } from '../../../mlperf/network/v1/ComponentVersion.ts';
import type { ModelDescription as _mlperf_network_v1_ModelDescription, ModelDescription__Output as _mlperf_network_v1_ModelDescription__Output } from '../../../mlperf/network/v1/ModelDescription.ts';
import type { HostFacts as _mlperf_network_v1_HostFacts, HostFacts__Output as _mlperf_network_v1_HostFacts__Output } from '../../../mlperf/network/v1/HostFacts.ts';
import type { NodeLimits as _mlperf_network_v1_NodeLimits, NodeLimits__Output as _mlperf_network_v1_NodeLimits__Output } from '../../../mlperf/network/v1/NodeLimits.ts';

export interface DescribeResponse {
  'name'?: (string);
  'nodeIdentity'?: (string);
  'software'?: (string);
  'softwareVersion'?: (string);
  'components'?: (_mlperf_network_v1_ComponentVersion)[];
  'protocolVersionMin'?: (number);
  'protocolVersionMax'?: (number);
  'features'?: (string)[];
  'models'?: (_mlperf_network_v1_ModelDescription)[];
  'settings'?: ({[key: string]: string});
  'host'?: (_mlperf_network_v1_HostFacts | null);
  'limits'?: (_mlperf_network_v1_NodeLimits | null);
}

export interface DescribeResponse__Output {
  'name': (string);
  'nodeIdentity': (string);
  'software': (string);
  'softwareVersion': (string);
  'components': (_mlperf_network_v1_ComponentVersion__Output)[];
  'protocolVersionMin': (number);
  'protocolVersionMax': (number);
  'features': (string)[];
  'models': (_mlperf_network_v1_ModelDescription__Output)[];
  'settings': ({[key: string]: string});
  'host': (_mlperf_network_v1_HostFacts__Output | null);
  'limits': (_mlperf_network_v1_NodeLimits__Output | null);
}
