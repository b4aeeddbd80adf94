import {
  accuracyPair,
  type ModelOfRounds,
  OFFLINE,
  SERVER_OFFLINE,
  SINGLE_MULTI_OFFLINE,
  SINGLE_OFFLINE,
  samples,
  targetsAt,
} from './model-parts.ts';
import type { SubmissionModel } from './submission-model.ts';

const RESNET: SubmissionModel = {
  name: 'resnet',
  folder: 'resnet50',
  benchmark: 'resnet50',
  scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_MULTI_OFFLINE },
  performanceSamples: 1024,
  dataSetSamples: 50_000,
  offlineSamples: 24_576,
  serverLatencyNs: 15_000_000,
  accuracy: targetsAt(0.99, { acc: 76.46 }),
  tests: ['TEST01', 'TEST04'],
};

const RETINANET: SubmissionModel = {
  name: 'retinanet',
  folder: 'retinanet',
  benchmark: 'retinanet',
  scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_MULTI_OFFLINE },
  performanceSamples: 64,
  dataSetSamples: 24_781,
  offlineSamples: 24_576,
  serverLatencyNs: 100_000_000,
  accuracy: targetsAt(0.99, { mAP: 37.55 }),
  tests: ['TEST01'],
};

/**
 * The inference rules of v4.1 give a QSL of 42 samples and a mean DICE of 0.86330; the official tools ask for 43
 * samples and for shares of 0.86170. What has 43 samples is accepted by both.
 */
const UNET = accuracyPair(
  {
    name: '3d-unet',
    benchmark: '3d-unet',
    scenarios: { datacenter: OFFLINE, edge: SINGLE_OFFLINE },
    ...samples(43),
    tests: ['TEST01'],
    isEqualIssue: true,
  },
  (share) => targetsAt(share, { DICE: 0.8617 }),
);

/** Without bounds in shares: the rules give a range. */
const SDXL: SubmissionModel = {
  name: 'stable-diffusion-xl',
  folder: 'stable-diffusion-xl',
  benchmark: 'stable-diffusion-xl',
  scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
  ...samples(5000),
  serverLatencyNs: 20_000_000_000,
  accuracy: [
    { metric: 'CLIP_SCORE', lower: 31.68631873, upper: 31.81331801 },
    { metric: 'FID_SCORE', lower: 23.01085758, upper: 23.95007626 },
  ],
  baselinePercents: { CLIP_SCORE: 1, FID_SCORE: 2 },
  tests: ['TEST01', 'TEST04'],
};

/** Ten pictures that a reviewer looks at; other ones in every round. */
function pictures(ids: string): Pick<SubmissionModel, 'accuracyFiles'> {
  return { accuracyFiles: { folder: 'images', ids: ids.split(' ') } };
}

const SDXL_V41 = pictures('4655 2569 1303 109 4509 3009 2179 1826 2094 3340');
const SDXL_V50 = pictures('4459 4015 2705 1682 4048 4683 3757 1578 3319 95');
const SDXL_V51 = pictures('2747 2235 2165 1515 1538 1367 2419 4629 3657 4532');
const SDXL_V60 = pictures('1311 2476 3644 2188 4114 52 388 1195 3427 2289');

/** v6.x: edge only, though a system of both suites shows Server as well. */
const SDXL_EDGE: SubmissionModel = {
  ...SDXL,
  scenarios: { edge: SINGLE_OFFLINE },
  bothSuites: { required: ['SingleStream', 'Offline', 'Server'], oneOf: [] },
};

const YOLO: Omit<SubmissionModel, 'name' | 'folder' | 'accuracy'> = {
  benchmark: 'yolo',
  scenarios: { edge: SINGLE_MULTI_OFFLINE },
  performanceSamples: 64,
  dataSetSamples: 1525,
  offlineSamples: 1525,
  tests: ['TEST01'],
};

const POINT_PAINTING: SubmissionModel = {
  name: 'pointpainting',
  folder: 'pointpainting',
  benchmark: 'pointpainting',
  scenarios: { edge: { required: ['SingleStream'], oneOf: [] } },
  performanceSamples: 1024,
  dataSetSamples: 39_987,
  offlineSamples: 6636,
  accuracy: targetsAt(0.999, { mAP: 0.5425 }),
  tests: ['TEST01', 'TEST04'],
};

/** The newer checker of v6.x takes 50 performance samples, the older one of the same time asks for 248. */
const WAN: SubmissionModel = {
  name: 'wan-2.2-t2v-a14b',
  folder: 'wan-2.2-t2v-a14b',
  benchmark: 'wan-2.2-t2v-a14b',
  scenarios: { datacenter: { required: ['Offline', 'SingleStream'], oneOf: [] } },
  performanceSamples: 248,
  dataSetSamples: 248,
  offlineSamples: 50,
  accuracy: targetsAt(0.99, { vbench_score: 70.48 }),
  tests: ['TEST04'],
};

const videos = (ids: string): Pick<SubmissionModel, 'accuracyFiles'> => ({
  accuracyFiles: { folder: 'videos', ids: ids.split(' ') },
});

/** Models that see or make pictures and videos. */
export const VISION: readonly ModelOfRounds[] = [
  { rounds: ['v4.1'], model: { ...RESNET, tests: ['TEST01', 'TEST04', 'TEST05'] } },
  { rounds: ['v5.0'], model: RESNET },
  {
    rounds: ['v5.1', 'v6.0', 'v6.1'],
    model: {
      ...RESNET,
      scenarios: { edge: SINGLE_MULTI_OFFLINE },
      bothSuites: { required: ['SingleStream', 'MultiStream', 'Offline', 'Server'], oneOf: [] },
    },
  },
  { rounds: ['v4.1'], model: { ...RETINANET, tests: ['TEST01', 'TEST05'] } },
  { rounds: ['v5.0', 'v5.1'], model: RETINANET },
  {
    // The newest checker has it for systems of both suites alone.
    rounds: ['v6.0'],
    model: {
      ...RETINANET,
      scenarios: {},
      bothSuites: { required: ['SingleStream', 'Offline', 'MultiStream', 'Server'], oneOf: [] },
    },
  },
  ...UNET.flatMap((model): ModelOfRounds[] => [
    { rounds: ['v4.1'], model: { ...model, tests: ['TEST01', 'TEST05'] } },
    { rounds: ['v5.0', 'v5.1', 'v6.0', 'v6.1'], model },
  ]),
  { rounds: ['v4.1'], model: { ...SDXL, ...SDXL_V41 } },
  { rounds: ['v5.0'], model: { ...SDXL, ...SDXL_V50 } },
  { rounds: ['v5.1'], model: { ...SDXL, ...SDXL_V51 } },
  { rounds: ['v6.0'], model: { ...SDXL_EDGE, ...SDXL_V60 } },
  { rounds: ['v6.1'], model: SDXL_EDGE },
  ...[0.95, 0.99].map((share): ModelOfRounds => {
    const name = `yolo-${share * 100}`;
    const accuracy = targetsAt(share, { mAP: 53.4 });
    return { rounds: ['v6.0', 'v6.1'], model: { ...YOLO, name, folder: name, accuracy } };
  }),
  { rounds: ['v5.0', 'v5.1', 'v6.0'], model: POINT_PAINTING },
  { rounds: ['v6.0'], model: { ...WAN, ...videos('130 106 84 59 12 31 86 122 233 96') } },
  { rounds: ['v6.1'], model: { ...WAN, ...videos('130 106 84 59 12 123 43 22 238 32') } },
];
