// Original file: proto/mlperf/network/v1/sut.proto


export interface DescribeSystemRequest {
}

export interface DescribeSystemRequest__Output {
}
