// Original file: proto/mlperf/network/v1/sut.proto


export interface DescribeRequest {
}

export interface DescribeRequest__Output {
}
