import { MlperfError } from '../base/errors/mlperf-error.ts';
import { COMPRESSION_NAMES, type Codec, type CompressionName, tooLarge } from './codec.ts';
import { lz4Codec } from './lz4.ts';
import { gzipCodec, zstdCodec } from './zlib-codecs.ts';

/** No compression: the bytes themselves, without a copy. */
const identityCodec: Codec = {
  name: 'identity',
  compress: (bytes) => bytes,
  decompress: (bytes, sizeMax) => {
    if (bytes.length > sizeMax) throw tooLarge('identity', sizeMax);
    return bytes;
  },
};

const CODECS: Readonly<Record<CompressionName, Codec | undefined>> = {
  identity: identityCodec,
  lz4: lz4Codec,
  gzip: gzipCodec,
  zstd: zstdCodec,
};

/** Names of the codecs that work in this process, `identity` first. */
export function availableCodecs(): readonly CompressionName[] {
  return COMPRESSION_NAMES.filter((name) => CODECS[name] !== undefined);
}

/**
 * A codec by its name.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` for a name that no codec has, `ERR_NOT_INSTALLED` where this
 *   Node lacks it.
 */
export function codecNamed(name: string): Codec {
  const known = COMPRESSION_NAMES.find((candidate) => candidate === name);
  if (known === undefined) {
    const names = COMPRESSION_NAMES.join(', ');
    throw new MlperfError(
      'ERR_BENCHMARK_UNKNOWN',
      `there is no compression "${name}"; there is: ${names}`,
    );
  }
  const codec = CODECS[known];
  if (codec === undefined) {
    throw new MlperfError(
      'ERR_NOT_INSTALLED',
      `Node ${process.version} has no ${known} (22.15 and later have); ` +
        `this process has: ${availableCodecs().join(', ')}`,
    );
  }
  return codec;
}
