// Original file: proto/mlperf/network/v1/sut.proto

export const FailureCode = {
  FAILURE_CODE_UNSPECIFIED: 'FAILURE_CODE_UNSPECIFIED',
  FAILURE_CODE_BAD_SAMPLE: 'FAILURE_CODE_BAD_SAMPLE',
  FAILURE_CODE_INFERENCE: 'FAILURE_CODE_INFERENCE',
  FAILURE_CODE_LIMIT: 'FAILURE_CODE_LIMIT',
  FAILURE_CODE_DRAINING: 'FAILURE_CODE_DRAINING',
} as const;

export type FailureCode =
  | 'FAILURE_CODE_UNSPECIFIED'
  | 0
  | 'FAILURE_CODE_BAD_SAMPLE'
  | 1
  | 'FAILURE_CODE_INFERENCE'
  | 2
  | 'FAILURE_CODE_LIMIT'
  | 3
  | 'FAILURE_CODE_DRAINING'
  | 4

export type FailureCode__Output = typeof FailureCode[keyof typeof FailureCode]
