import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArtifactOptions, ensureArtifact } from '../../shared/base/cache/artifact-cache.ts';

/** A model that longhaul makes out of seeds, in less than some seconds. */
interface Standin {
  /** Of the model, on the wire and in logs; its file is named so. */
  readonly name: string;
  /** The model that it stands for, for people: `DLRM-DCNv2`. */
  readonly original: string;
  /** All that its files depend on. */
  readonly recipe: object;
}

/** A model of one file. */
interface StandinFile extends Standin {
  make(): Uint8Array;
}

/** A model of several files. */
interface StandinParts extends Standin {
  make(): {
    /** ONNX files by their names in the description. */
    readonly parts: Readonly<Record<string, Uint8Array>>;
    /** Further files in the folder of the description. */
    readonly beside: Readonly<Record<string, Uint8Array | string>>;
  };
}

type CacheOptions = Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'>;

/**
 * Finds a stand-in in the cache, checked against its checksum, or makes it.
 * @returns Path of its file.
 * @throws MlperfError `ERR_CACHE`
 */
export function ensureStandinFile(standin: StandinFile, options: CacheOptions): Promise<string> {
  const file = `${standin.name}.onnx`;
  return ensureFiles(standin, options, file, () => ({ [file]: standin.make() }));
}

/** The same for a model of several files. @returns Path of its description. */
export function ensureStandinParts(standin: StandinParts, options: CacheOptions): Promise<string> {
  const description = `${standin.name}.yaml`;
  return ensureFiles(standin, options, description, () => {
    const { parts, beside } = standin.make();
    const files: Record<string, Uint8Array | string> = { ...beside };
    let text = `name: ${standin.name}\nparts:\n`;
    for (const [part, bytes] of Object.entries(parts)) {
      files[`${part}.onnx`] = bytes;
      text += `  ${part}: ${part}.onnx\n`;
    }
    return { ...files, [description]: text };
  });
}

async function ensureFiles(
  { name, original, recipe }: Standin,
  { cacheFolder, onProgress }: CacheOptions,
  main: string,
  make: () => Readonly<Record<string, Uint8Array | string>>,
): Promise<string> {
  const folder = await ensureArtifact({
    ...{ cacheFolder, name: `${name}-model`, recipe, onProgress },
    build: async (building, onBuildProgress) => {
      onBuildProgress(0, `making the stand-in for ${original}`);
      for (const [file, bytes] of Object.entries(make())) {
        await writeFile(join(building, file), bytes);
      }
    },
  });
  return join(folder, main);
}
