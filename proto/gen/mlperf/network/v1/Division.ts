// Original file: proto/mlperf/network/v1/sut.proto

export const Division = {
  DIVISION_UNSPECIFIED: 'DIVISION_UNSPECIFIED',
  DIVISION_NETWORK: 'DIVISION_NETWORK',
  DIVISION_OPEN: 'DIVISION_OPEN',
} as const;

export type Division =
  | 'DIVISION_UNSPECIFIED'
  | 0
  | 'DIVISION_NETWORK'
  | 1
  | 'DIVISION_OPEN'
  | 2

export type Division__Output = typeof Division[keyof typeof Division]
