// Original file: proto/mlperf/network/v1/sut.proto


export interface Close {
}

export interface Close__Output {
}
