// Original file: proto/mlperf/network/v1/sut.proto


export interface NicFacts {
  'name'?: (string);
  'fabric'?: (string);
  'backing'?: (string);
  'madeOf'?: (string)[];
  'driver'?: (string);
  'model'?: (string);
  'pciId'?: (string);
  'speedMbps'?: (number | string);
  'duplex'?: (string);
  'mtu'?: (number);
  'linkState'?: (string);
  'addresses'?: (string)[];
  'hasRdma'?: (boolean);
}

export interface NicFacts__Output {
  'name': (string);
  'fabric': (string);
  'backing': (string);
  'madeOf': (string)[];
  'driver': (string);
  'model': (string);
  'pciId': (string);
  'speedMbps': (number);
  'duplex': (string);
  'mtu': (number);
  'linkState': (string);
  'addresses': (string)[];
  'hasRdma': (boolean);
}
