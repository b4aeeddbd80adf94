// Original file: proto/mlperf/network/v1/sut.proto

export const LinkTestDirection = {
  LINK_TEST_DIRECTION_UNSPECIFIED: 'LINK_TEST_DIRECTION_UNSPECIFIED',
  LINK_TEST_DIRECTION_TO_SUT: 'LINK_TEST_DIRECTION_TO_SUT',
  LINK_TEST_DIRECTION_FROM_SUT: 'LINK_TEST_DIRECTION_FROM_SUT',
} as const;

export type LinkTestDirection =
  | 'LINK_TEST_DIRECTION_UNSPECIFIED'
  | 0
  | 'LINK_TEST_DIRECTION_TO_SUT'
  | 1
  | 'LINK_TEST_DIRECTION_FROM_SUT'
  | 2

export type LinkTestDirection__Output = typeof LinkTestDirection[keyof typeof LinkTestDirection]
