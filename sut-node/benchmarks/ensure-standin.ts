import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArtifactOptions,
  type BuildProgress,
  ensureArtifact,
} from '../../shared/base/cache/artifact-cache.ts';
import { makeInThread } from './make-in-thread.ts';

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

/** A model of one file that takes seconds to make: on a thread of its own, so that the node answers meanwhile. */
interface StandinOfThread extends Standin {
  /** Compiled file of the thread, relative to the package. */
  readonly entry: string;
  /** Its `workerData`. @param file Path to write the model to. */
  workOf(file: string): unknown;
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
  return ensureMade(
    standin,
    options,
    file,
    writing(() => ({ [file]: standin.make() })),
  );
}

/** The same on a thread. @throws MlperfError `ERR_CACHE`, `ERR_SUT_WORKER` */
export function ensureStandinInThread(
  standin: StandinOfThread,
  options: CacheOptions,
): Promise<string> {
  const file = `${standin.name}.onnx`;
  return ensureMade(standin, options, file, (building, what, onProgress) => {
    const work = standin.workOf(join(building, file));
    return makeInThread({ entry: standin.entry, work, what }, onProgress);
  });
}

/** The same for a model of several files. @returns Path of its description. */
export function ensureStandinParts(standin: StandinParts, options: CacheOptions): Promise<string> {
  const description = `${standin.name}.yaml`;
  const make = (): Files => {
    const { parts, beside } = standin.make();
    const files: Record<string, Uint8Array | string> = { ...beside };
    let text = `name: ${standin.name}\nparts:\n`;
    for (const [part, bytes] of Object.entries(parts)) {
      files[`${part}.onnx`] = bytes;
      text += `  ${part}: ${part}.onnx\n`;
    }
    return { ...files, [description]: text };
  };
  return ensureMade(standin, options, description, writing(make));
}

/** Contents by name. */
type Files = Readonly<Record<string, Uint8Array | string>>;

/** @param what The work, for people. */
type Build = (building: string, what: string, onProgress: BuildProgress) => Promise<void>;

function writing(make: () => Files): Build {
  return async (building, what, onProgress) => {
    onProgress(0, what);
    for (const [file, content] of Object.entries(make())) {
      await writeFile(join(building, file), content);
    }
  };
}

async function ensureMade(
  { name, original, recipe }: Standin,
  { cacheFolder, onProgress }: CacheOptions,
  main: string,
  build: Build,
): Promise<string> {
  const what = `making the stand-in for ${original}`;
  const folder = await ensureArtifact({
    cacheFolder,
    name: `${name}-model`,
    recipe,
    onProgress,
    build: (building, onBuildProgress) => build(building, what, onBuildProgress),
  });
  return join(folder, main);
}
