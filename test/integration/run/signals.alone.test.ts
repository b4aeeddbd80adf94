import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { LonghaulProcess, SutNodeProcess } from '../../scenes/host/processes.ts';
import { statOf } from '../../scenes/host/worker-processes.ts';
import { type FakeBehaviour, fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: a signal ends every phase soon. Method: real processes, and no clock. What only waits would
// outlast END_MS_MAX; what computes takes little processor time behind the signal, measured by what
// it took before, mostly to load the program; and the phase did not come to its end.

const MAIN = fileURLToPath(compiledModule('loadgen-node/main.js'));
/** From a signal on; a process that has not ended then hangs, however busy the machine is. */
const END_MS_MAX = 45_000;
const TEST_MS_MAX = 3 * END_MS_MAX;
/**
 * Of the processor time before the signal; a run takes a quarter at most, and scoring that goes on
 * takes more than the whole.
 */
const CPU_SHARE_MAX = 0.6;

/**
 * Watches the processor time of a process.
 * @returns Tells how much it took since, as a share of what it took before; 0 where there is no
 *   /proc.
 */
function watchCpu(pid: number): () => number {
  const ticksOf = (): number => {
    const [user, system] = statOf(pid).slice(11, 13).map(Number);
    return Number(user) + Number(system) || 0;
  };
  const before = ticksOf();
  let ticks = before;
  // It can no longer be asked when it has ended.
  const timer = setInterval(() => {
    ticks = Math.max(ticks, ticksOf());
  }, 20);
  return () => {
    clearInterval(timer);
    return before === 0 ? 0 : (ticks - before) / before;
  };
}

let nullNode: Promise<SutNodeProcess> | undefined;

afterAll(async () => {
  await (await nullNode)?.stop();
});

/** A node without a model, for all tests here. */
async function node(): Promise<string> {
  nullNode ??= SutNodeProcess.start('sut-a', ['--benchmark', 'null']);
  const { address, process } = await nullNode;
  await process.says(/is ready/);
  return address;
}

/** A command in a phase, and how to tell that the phase has begun. */
interface Phase {
  readonly args: readonly string[];
  readonly says: RegExp;
  /** Default: SIGTERM. */
  readonly signal?: 'SIGINT' | 'SIGTERM';
  /** Node that it measures; default: the one without a model; null: none, or one of its own. */
  readonly sut?: FakeBehaviour | null;
  /** On stdout, where the phase did not come to its own end. Default: nothing. */
  readonly tells?: RegExp;
  /** The command writes no folder. */
  readonly writesNone?: boolean;
}

const PICTURES = 120;

/** Pictures that take long to digest: the first one has 100 GB, none of which is on the disk. */
function largePictures(): string {
  const folder = suiteFolder();
  const names = Array.from({ length: PICTURES }, (_, i) => `picture-${i}.JPEG`);
  for (const name of names) writeFileSync(join(folder, name), name);
  truncateSync(join(folder, names[0] as string), 100e9);
  writeFileSync(join(folder, 'val_map.txt'), names.map((name) => `${name} 1\n`).join(''));
  return folder;
}

const SCENES = 300;
const OBJECTS = 800;

/**
 * Pictures whose detections take long to be compared with their objects: all are of one category.
 */
function crowdedPictures(): string {
  const folder = suiteFolder();
  mkdirSync(join(folder, 'validation', 'data'), { recursive: true });
  mkdirSync(join(folder, 'annotations'));
  writeFileSync(join(folder, 'validation', 'data', 'a.jpg'), 'a picture');
  const images = Array.from({ length: SCENES }, (_, i) => ({
    ...{ id: i + 1, file_name: 'a.jpg', width: 800, height: 800 },
  }));
  const annotations = images.flatMap(({ id }, i) =>
    Array.from({ length: OBJECTS }, (_, n) => ({
      ...{ id: i * OBJECTS + n + 1, image_id: id, category_id: 1, area: 100, iscrowd: 0 },
      bbox: [n, n, 10, 10],
    })),
  );
  writeFileSync(
    join(folder, 'annotations', 'openimages-mlperf.json'),
    JSON.stringify({ images, annotations, categories: [{ id: 1 }] }),
  );
  return folder;
}

/** A hundred detections per picture, as many as count. */
const DETECTIONS = new Uint8Array(
  Float32Array.from({ length: 7 * 100 }, (_, i) => (i % 7 === 6 ? 1 : (i % 7) / 7)).buffer,
);

const CUT_SHORT = /^INTERRUPTED/;

describe('a signal', () => {
  const cache = suiteFolder();
  const toNull = ['--benchmark', 'null', '--target-qps', '100'];
  const digits = ['--benchmark', 'digits', '--cache-dir', cache];

  const phases: readonly (readonly [string, () => Phase])[] = [
    [
      'while a data set is made',
      () => ({
        args: ['submission', 'data', 'checksums', ...digits, '--data-count', '60000'],
        ...{ says: /drawing/, sut: null },
      }),
    ],
    [
      'while a data set is digested',
      () => ({
        args: [
          'run',
          '--benchmark',
          'resnet50',
          '--target-qps',
          '9',
          '--data-dir',
          largePictures(),
        ],
        ...{ says: /checking \d+ files/, signal: 'SIGINT', sut: { benchmark: 'resnet50' } },
      }),
    ],
    [
      'while a node is not ready',
      () => ({
        args: ['run', ...toNull],
        ...{ says: /waiting for SUT node/, signal: 'SIGINT' },
        sut: {
          benchmark: 'null',
          notReady: Array.from({ length: 1_000 }, () => ({
            ...{ ready: false, state: 'NODE_STATE_LOADING', detail: 'still loading' },
          })),
        },
      }),
    ],
    [
      'in the warm-up',
      () => ({ args: ['run', ...toNull, '--warm-up', '600s'], says: /warming up/ }),
    ],
    [
      'while samples are loaded',
      () => ({
        args: ['run', ...toNull, '--sample-bytes', '300000000'],
        says: /loading/,
        tells: CUT_SHORT,
      }),
    ],
    [
      'in the accuracy run',
      () => ({
        args: [
          ...['run', '--benchmark', 'null', '--target-qps', '1'],
          ...['--mode', 'accuracy', '--sample-bytes', '100'],
        ],
        ...{ says: /accuracy run/, tells: CUT_SHORT },
      }),
    ],
    [
      'while accuracy is scored',
      () => ({
        args: [
          'run',
          '--benchmark',
          'retinanet',
          '--encoding',
          'jpeg',
          '--target-qps',
          '9999',
          '--mode',
          'accuracy',
          '--data-dir',
          crowdedPictures(),
        ],
        ...{ says: /scoring/, tells: CUT_SHORT, signal: 'SIGINT' },
        sut: {
          benchmark: 'retinanet',
          says: { Model: { encodings: [{ form: 'jpeg', compression: 'identity' }] } },
          onPart: (fake, part) =>
            fake.complete(
              part.samples.map(({ id }) => id),
              DETECTIONS,
            ),
        },
      }),
    ],
    [
      'in the performance run',
      () => ({
        args: ['run', ...toNull, '--min-duration', '600s'],
        ...{ says: /performance run/, tells: CUT_SHORT },
      }),
    ],
    [
      'in a search',
      () => ({
        args: ['find-peak', '--benchmark', 'null', '--latency', '15ms'],
        ...{ says: /probe|Searching|single|kind/, tells: /^Searching(?![\s\S]*\nPeak)/ },
      }),
    ],
    [
      'in a curve',
      () => ({
        args: ['curve', '--benchmark', 'null', '--qps', '10,20'],
        ...{ says: /queries\/s/, tells: /^Peak +None: no point was measured/m },
      }),
    ],
    [
      'in a sweep',
      () => ({
        args: ['sweep', '--benchmark', 'null', '--latency', '50ms', '--link-hook', ':'],
        ...{ says: /probe/, signal: 'SIGINT' },
      }),
    ],
    [
      'in a comparison with the model in process',
      () => ({
        args: ['efficiency', '--benchmark', 'null', '--latency', '15ms'],
        ...{ says: /probe 1/, tells: /^ +# probe/, signal: 'SIGINT', sut: null },
      }),
    ],
    [
      'while a node starts',
      () => ({
        args: ['demo', '--cache-dir', cache],
        ...{ says: /starting a SUT node/, sut: null },
      }),
    ],
    [
      'in a node',
      () => ({
        args: ['sut', ...digits, '--listen', '127.0.0.1:0'],
        ...{ says: /listens/, sut: null, writesNone: true },
      }),
    ],
  ];

  it.each(phases)(
    '%s ends the process soon',
    (_phase, phase) => expectSoonEnd(phase()),
    TEST_MS_MAX,
  );

  async function expectSoonEnd(phase: Phase): Promise<void> {
    const { args, says, signal = 'SIGTERM', sut, tells = /^$/, writesNone = false } = phase;
    mkdirSync(cache, { recursive: true });
    const address = sut === undefined ? await node() : sut && (await fakeSutNodes(sut))[0]?.address;
    const temporary = suiteFolder();
    const command = ['env', `TMPDIR=${temporary}`, process.execPath, MAIN, ...args];
    if (address != null) command.push('--sut', address);
    if (!writesNone) command.push('--output', join(suiteFolder(), 'out'));
    const started = new LonghaulProcess(command);
    await started.says(says);
    const shareOfCpu = watchCpu(started.child.pid as number);
    started.kill(signal);
    const late = setTimeout(() => started.kill('SIGKILL'), END_MS_MAX);
    const { code, stdout, stderr } = await started.ended;
    clearTimeout(late);
    const cpuShare = shareOfCpu();
    expect(code).toBe(writesNone ? 0 : signal === 'SIGINT' ? 130 : 143);
    expect(stderr).not.toMatch(/ {4}at |internal error/);
    expect(new Set(stderr.match(/^interrupted(?=: |$)/gm)).size).toBe(writesNone ? 0 : 1);
    expect(stdout).toMatch(tells);
    expect(cpuShare).toBeLessThan(CPU_SHARE_MAX);
    expect(readdirSync(temporary)).toEqual([]);
  }
});
