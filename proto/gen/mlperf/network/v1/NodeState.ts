// Original file: proto/mlperf/network/v1/sut.proto

export const NodeState = {
  NODE_STATE_UNSPECIFIED: 'NODE_STATE_UNSPECIFIED',
  NODE_STATE_LOADING: 'NODE_STATE_LOADING',
  NODE_STATE_WARMING_UP: 'NODE_STATE_WARMING_UP',
  NODE_STATE_READY: 'NODE_STATE_READY',
  NODE_STATE_DRAINING: 'NODE_STATE_DRAINING',
  NODE_STATE_FAILED: 'NODE_STATE_FAILED',
} as const;

export type NodeState =
  | 'NODE_STATE_UNSPECIFIED'
  | 0
  | 'NODE_STATE_LOADING'
  | 1
  | 'NODE_STATE_WARMING_UP'
  | 2
  | 'NODE_STATE_READY'
  | 3
  | 'NODE_STATE_DRAINING'
  | 4
  | 'NODE_STATE_FAILED'
  | 5

export type NodeState__Output = typeof NodeState[keyof typeof NodeState]
