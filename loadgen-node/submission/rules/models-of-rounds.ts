import type { SubmissionModel } from './submission-model.ts';
import type { SubmissionRound } from './submission-rounds.ts';

/** ResNet-50 in the rounds that have it in the datacenter suite. */
const RESNET: SubmissionModel = {
  name: 'resnet',
  folder: 'resnet50',
  benchmark: 'resnet50',
  scenarios: {
    datacenter: { required: ['Server', 'Offline'], oneOf: [] },
    edge: { required: ['SingleStream', 'MultiStream', 'Offline'], oneOf: [] },
  },
  performanceSamples: 1024,
  dataSetSamples: 50_000,
  offlineSamples: 24_576,
  serverLatencyNs: 15_000_000,
  accuracy: [{ metric: 'acc', lower: 76.46 * 0.99 }],
  tests: ['TEST01', 'TEST04'],
};

const MODELS: Readonly<Record<SubmissionRound, readonly SubmissionModel[]>> = {
  'v4.1': [{ ...RESNET, tests: ['TEST01', 'TEST04', 'TEST05'] }],
  'v5.0': [RESNET],
  'v5.1': [],
  'v6.0': [],
  'v6.1': [],
};

/** Every model of a round. */
export function modelsOfRound(round: SubmissionRound): readonly SubmissionModel[] {
  return MODELS[round];
}
