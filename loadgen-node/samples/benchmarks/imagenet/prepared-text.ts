import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** What `longhaul prepare` has made. */
export interface PreparedStandin {
  readonly benchmark: string;
  /** Paths of the models. */
  readonly models: { readonly fp32: string; readonly int8: string };
  /** Folder of the images, val_map.txt and reference.json. */
  readonly dataFolder: string;
  readonly imageCount: number;
  /** Flags of a run that ask for these images, with a blank before them; empty for the standard ones. */
  readonly dataFlags: string;
  /** Right answers on all images. */
  readonly correct: { readonly fp32: number; readonly int8: number };
  /** The cache folder that was named, if one was. */
  readonly cacheDir: string | undefined;
  /** True where the paths are copies outside of the cache: then the commands name them. */
  readonly isCopy: boolean;
}

/** Share of the FP32 accuracy that runs ask for. Rule: inference_rules v4.1, quality targets of the benchmarks. */
const SHARE_ASKED = 0.99;

const MEGABYTE = 1e6;

/** What was made, how well it does, and how to go on; several lines. */
export async function preparedText(prepared: PreparedStandin): Promise<string> {
  const { benchmark, models, dataFolder, imageCount } = prepared;
  const lines = [
    `Stand-in for the model and the data of ${benchmark}. Neither is MLPerf's: no figure of a run with them is a result of it.`,
    '',
    await modelLine('FP32', models.fp32),
    await modelLine('int8', models.int8),
    `  images  ${dataFolder}`,
    `          ${imageCount} JPEG files, ${megabytes(await folderBytes(dataFolder))} MB, val_map.txt, reference.json`,
    '',
    ...accuracyLines(prepared),
    '',
    'Go on with:',
    ...commandLines(prepared),
    '',
  ];
  return lines.join('\n');
}

/** The same for programs; accuracies are shares from 0 to 1. */
export async function preparedJson(prepared: PreparedStandin): Promise<object> {
  const { benchmark, models, dataFolder, imageCount, correct } = prepared;
  const model = async (precision: keyof typeof models): Promise<object> => ({
    ...(await fileFacts(models[precision])),
    correctCount: correct[precision],
    top1: correct[precision] / imageCount,
  });
  return {
    benchmark,
    models: { fp32: await model('fp32'), int8: await model('int8') },
    data: { path: dataFolder, imageCount, bytes: await folderBytes(dataFolder) },
  };
}

async function fileFacts(
  path: string,
): Promise<{ readonly path: string; readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = await stat(path);
  return { path, bytes: size, sha256: hash.digest('hex') };
}

async function modelLine(precision: string, file: string): Promise<string> {
  const { bytes, sha256 } = await fileFacts(file);
  return `  ${precision.padEnd(6)}  ${file}\n          ${megabytes(bytes)} MB, sha256 ${sha256}`;
}

function accuracyLines({ correct, imageCount }: PreparedStandin): string[] {
  const share = correct.int8 / correct.fp32;
  const verdict = share >= SHARE_ASKED ? 'met' : 'not met';
  const line = (precision: string, count: number): string =>
    `  ${precision}  ${percent(count / imageCount)}  (${count} of ${imageCount})`;
  return [
    'Top-1 on these images, measured:',
    line('FP32', correct.fp32),
    `${line('int8', correct.int8)}: ${percent(share)} of FP32; ${percent(SHARE_ASKED)} is asked: ${verdict}`,
  ];
}

function commandLines({
  benchmark,
  models,
  dataFolder,
  dataFlags,
  cacheDir,
  isCopy,
}: PreparedStandin): string[] {
  const cache = cacheDir === undefined || isCopy ? '' : ` --cache-dir ${quoted(cacheDir)}`;
  const [fp32, int8] = isCopy
    ? [quoted(models.fp32), quoted(models.int8)]
    : ['standin', 'standin-int8'];
  const data = isCopy ? quoted(dataFolder) : `standin${dataFlags}`;
  return [
    `  longhaul sut --benchmark ${benchmark} --model ${fp32} --node sut-a${cache}`,
    `      (in int8: --model ${int8})`,
    `  longhaul run --sut 127.0.0.1:50051 --benchmark ${benchmark} --data-dir ${data} --scenario Offline --target-qps 10${cache}`,
  ];
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./:~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function folderBytes(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

/** Five significant figures, as quality is told. */
function percent(share: number): string {
  return `${(share * 100).toPrecision(5)} %`;
}
