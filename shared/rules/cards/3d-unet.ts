import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import {
  compressionRow,
  LOSSLESS,
  NETWORK_ROUNDS,
  NONE_OR_LOSSLESS,
} from '../rows/compression-row.ts';
import { OFFLINE, OFFLINE_TO_V31, pair, SINGLE_OFFLINE } from '../rows/model-row.ts';

/** Form of a volume on the wire: shared/benchmarks/volume/volume.ts. */
export const VOLUME_FORM = 'volume';

/** Voxels of a volume in the rules' formula. */
const VOXELS = 32_944_795;

/**
 * Offline and SingleStream only. The rules' text of v4.1 has a QSL of 42 cases and a mean DICE of
 * 0.86330; mlperf.conf and the official tools have 43 cases and shares of 0.86170, which hold here.
 * Both accept 43 samples.
 */
export const UNET_3D: BenchmarkCard = {
  key: '3d-unet',
  title: 'segmentation of scans: 3D U-Net on KiTS19',
  encodings: { volume: { form: VOLUME_FORM, compression: 'identity' } },
  // The tensors of a volume have its own shape, so a protocol of tensors takes it as bytes.
  sampleTensors: { volume: { datatype: 'BYTES', shape: [1] } },
  responseTensor: { datatype: 'UINT8', shape: [-1] },
  models: pair(
    {
      name: '3d-unet',
      rounds: ['v2.1', 'v6.1'],
      scenarios: { datacenter: OFFLINE, edge: SINGLE_OFFLINE },
      samples: 43,
      performanceSamples: 42,
      offlineSamples: OFFLINE_TO_V31,
      references: { DICE: 0.8617 },
      isEqualIssue: true,
      tests: ['TEST01', 'TEST05'],
      since: {
        'v3.0': { performanceSamples: 43 },
        'v4.0': { offlineSamples: 43 },
        'v5.0': { tests: ['TEST01'] },
      },
    },
    { isEqualIssueInConf: true },
  ),
  isInShares: true,
  compression: [
    compressionRow(
      NETWORK_ROUNDS,
      `Allow one of the following compression options: ${NONE_OR_LOSSLESS} This rule applies both for the ` +
        'QSL pre-processing and for post-processing function allowed in QDL for this benchmark results.',
      { ...LOSSLESS, losslessResponses: true },
    ),
  ],
  bandwidth: { input: `${VOXELS}*dtype_size`, inputElements: VOXELS, outputElements: VOXELS },
  // KiTS19 has this many cases for inference.
  generated: { standard: { seed: 31, sampleCount: 43 } },
  // A sample has 132 MB on average, and its response a quarter of that; on a processor it may take
  // half an hour.
  defaults: {
    queueBytesMax: 2 * 1024 ** 3,
    messageBytesMax: 256 * 1024 ** 2,
    stallTimeout: '3600s',
  },
};
