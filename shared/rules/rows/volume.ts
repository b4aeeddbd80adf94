import type { BenchmarkRules } from './benchmark-row.ts';

/** Form of a volume on the wire: shared/benchmarks/volume/volume.ts. */
export const VOLUME_FORM = 'volume';

/** Encodings and tensors of 3d-unet. The tensors of a volume have its own shape, so a protocol of tensors takes it as bytes. */
export const VOLUME_ROW: Pick<
  BenchmarkRules,
  'encodings' | 'sampleTensors' | 'responseTensor' | 'defaults'
> = {
  encodings: { volume: { form: VOLUME_FORM, compression: 'identity' } },
  sampleTensors: { volume: { datatype: 'BYTES', shape: [1] } },
  responseTensor: { datatype: 'UINT8', shape: [-1] },
  // A sample has 132 MB on average, and its response a quarter of that; on a processor it may take half an hour.
  defaults: {
    ...{ queueBytesMax: 2 * 1024 ** 3, messageBytesMax: 256 * 1024 ** 2 },
    stallTimeout: '3600s',
  },
};
