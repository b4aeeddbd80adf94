import { execFile } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import * as nodeOs from 'node:os';
import { join } from 'node:path';

/** Facts of a machine that Node.js itself tells. */
export type OsFacts = Readonly<ReturnType<typeof osFacts>>;

function osFacts() {
  const processors = nodeOs.cpus();
  return {
    hostname: nodeOs.hostname(),
    architecture: nodeOs.arch(),
    /** Kind and release of the kernel: `Linux`, `6.1.0`. */
    kind: nodeOs.type(),
    release: nodeOs.release(),
    threads: processors.length,
    model: processors[0]?.model,
    memoryBytes: nodeOs.totalmem(),
    addresses: nodeOs.networkInterfaces(),
  };
}

/**
 * Source of the facts of a machine. Never rejects: an absent, forbidden or broken entry is null (or an
 * empty list), because facts are optional one by one. Paths are absolute, `/proc/cpuinfo`.
 */
export interface MachineSource {
  readonly os: OsFacts;
  /** Text of a file without space around it; null where it is empty, too. */
  text(path: string): Promise<string | null>;
  bytes(path: string): Promise<Uint8Array | null>;
  /** Names in a folder, sorted, numbers in them by value. */
  names(path: string): Promise<readonly string[]>;
  /** The path with all links in it followed. */
  target(path: string): Promise<string | null>;
  /** Output of a program, if it is installed and ends well and in time. */
  output(program: string, args: readonly string[]): Promise<string | null>;
}

/** No file that is read here is larger: the list of PCI ids has 1.4 MiB, `/proc/cpuinfo` of 1,000 threads 1.5. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** A tool that hangs (a driver that is broken) is given up. */
const PROGRAM_TIMEOUT_MS = 5_000;
const PROGRAM_BYTES_MAX = 256 * 1024;

/** This machine. */
export function thisMachine(): MachineSource {
  return machineAt('/', osFacts());
}

/** A machine whose files lie under `root`; elsewhere than at `/` no program is run. */
export function machineAt(root: string, os: OsFacts): MachineSource {
  const bytes = (path: string): Promise<Uint8Array | null> => readBounded(join(root, path));
  return {
    os,
    bytes,
    text: async (path) => {
      const content = await bytes(path);
      return (content && Buffer.from(content).toString('utf8').trim()) || null;
    },
    names: async (path) => {
      const names = await readdir(join(root, path)).catch(() => []);
      return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    },
    target: async (path) => {
      const [base, target] = await Promise.all(
        [root, join(root, path)].map((one) => realpath(one).catch(() => null)),
      );
      if (typeof base !== 'string' || typeof target !== 'string') return null;
      return join('/', target.slice(base.length));
    },
    output: (program, args) => (root === '/' ? runProgram(program, args) : Promise.resolve(null)),
  };
}

/** Reads piece by piece: files of `/proc` and `/sys` do not tell their length. Pipes and devices are not waited for. */
async function readBounded(path: string): Promise<Uint8Array | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const chunks: Uint8Array[] = [];
    for (let length = 0; length < FILE_BYTES_MAX; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES);
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(chunks);
  } catch {
    // A file of /sys that the driver does not fill (the speed of a link that is down) fails when it is read.
    return null;
  } finally {
    await file.close();
  }
}

function runProgram(program: string, args: readonly string[]): Promise<string | null> {
  const limits = { timeout: PROGRAM_TIMEOUT_MS, maxBuffer: PROGRAM_BYTES_MAX };
  return new Promise((resolve) => {
    execFile(program, [...args], { ...limits, killSignal: 'SIGKILL' }, (error, stdout) => {
      resolve(error === null ? stdout.trim() : null);
    });
  });
}

/**
 * Reads no more from the moment on in which `shouldStop` says so; asked before every read.
 * @returns `isInterrupted`: true once something was not read for that reason.
 */
export function interruptible(source: MachineSource, shouldStop: () => boolean) {
  let isInterrupted = false;
  const unless = <T>(read: () => Promise<T>, nothing: T): Promise<T> => {
    isInterrupted ||= shouldStop();
    return isInterrupted ? Promise.resolve(nothing) : read();
  };
  const methods: Omit<MachineSource, 'os'> = {
    text: (path) => unless(() => source.text(path), null),
    bytes: (path) => unless(() => source.bytes(path), null),
    names: (path) => unless(() => source.names(path), []),
    target: (path) => unless(() => source.target(path), null),
    output: (program, args) => unless(() => source.output(program, args), null),
  };
  return {
    os: source.os,
    ...methods,
    get isInterrupted() {
      return isInterrupted;
    },
  };
}

/**
 * Text of a small file of this machine, read at once; null where there is none: another system, or
 * a process that has ended.
 */
export function ownText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** A folder of a machine's files; what is not there, or not as expected, is null. */
export class FactFolder {
  readonly source: MachineSource;
  readonly path: string;

  constructor(source: MachineSource, path = '') {
    this.source = source;
    this.path = path;
  }

  /** A folder below this one. */
  in(name: string): FactFolder {
    return new FactFolder(this.source, `${this.path}/${name}`);
  }

  /** A file, or what the last group of a pattern finds in it; null where that is empty. */
  async text(name: string, pattern: RegExp = /^(.*)$/s): Promise<string | null> {
    const text = await this.source.text(`${this.path}/${name}`);
    return pattern.exec(text ?? '')?.at(-1) || null;
  }

  /** See {@link text} and {@link cleanText}. */
  async line(name: string, pattern?: RegExp): Promise<string | null> {
    return cleanText(await this.text(name, pattern));
  }

  /** See {@link text} and {@link positiveValue}. */
  async number(name: string, pattern?: RegExp): Promise<number | null> {
    return positiveValue(await this.text(name, pattern));
  }

  /** A counter, which may be 0. See {@link text}. */
  async counter(name: string, pattern: RegExp): Promise<number | null> {
    const digits = await this.text(name, pattern);
    return digits === null ? null : Number(digits);
  }

  /** Bytes by a line `KEY:  1024 kB`. */
  async kib(name: string, key: string): Promise<number | null> {
    const kib = await this.counter(name, new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm'));
    return kib === null ? null : kib * 1024;
  }

  /** See {@link text} and {@link parseCpuList}. */
  async cpuList(name: string, pattern?: RegExp): Promise<number[]> {
    return parseCpuList(await this.text(name, pattern));
  }

  /** Names in this folder that a pattern has. */
  async names(pattern: RegExp = /^/): Promise<string[]> {
    return (await this.source.names(this.path)).filter((name) => pattern.test(name));
  }

  /** The path of an entry with all links in it followed. */
  target(name: string): Promise<string | null> {
    return this.source.target(`${this.path}/${name}`);
  }
}

/** Text for one line of JSON: no control characters, no space around it, not empty, not endless. */
export function cleanText(text: string | null | undefined): string | null {
  const clean = (text ?? '').replace(/\p{Cc}+/gu, ' ').trim();
  return clean === '' ? null : clean.slice(0, 256);
}

/** A number above 0 from a text, or null: kernels write 0 or -1 for what they do not know. */
export function positiveValue(text: string | null | undefined): number | null {
  const trimmed = (text ?? '').trim();
  if (!/^\d+(\.\d+)?$/.test(trimmed)) return null;
  const value = Number(trimmed);
  return value > 0 && Number.isFinite(value) ? value : null;
}

/** More processors than a kernel can have: a list that names more is broken. */
const CPU_MAX = 65_536;

/** Numbers of a list as the kernel writes them (`0-3,8`); none where the text is not one. */
export function parseCpuList(text: string | null | undefined): number[] {
  const numbers: number[] = [];
  for (const part of (text ?? '').split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    const first = Number(match?.[1]);
    const last = Number(match?.[2] ?? match?.[1]);
    if (match === null || last >= CPU_MAX) return [];
    for (let i = first; i <= last; i += 1) numbers.push(i);
  }
  return numbers;
}

/** The words that are there, once each, with a text between them; null for none. */
export function joined(words: readonly (string | null)[], between: string): string | null {
  return [...new Set(words)].filter((word) => word !== null).join(between) || null;
}
