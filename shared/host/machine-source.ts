import { execFile } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import * as nodeOs from 'node:os';
import { join } from 'node:path';

/** Facts of a machine from Node.js itself. */
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
 * Source of a machine's facts. Never rejects: an absent, forbidden or broken entry is null (or an
 * empty list), since each fact is optional. Paths are absolute, such as `/proc/cpuinfo`.
 */
export interface MachineSource {
  readonly os: OsFacts;
  /** Text of a file without surrounding space; null if it is empty. */
  text(path: string): Promise<string | null>;
  bytes(path: string): Promise<Uint8Array | null>;
  /** Names in a folder, in natural order. */
  names(path: string): Promise<readonly string[]>;
  /** The path with all links resolved. */
  target(path: string): Promise<string | null>;
  /** Output of a program, if it is installed, succeeds and is in time. */
  output(program: string, args: readonly string[]): Promise<string | null>;
}

/**
 * Largest file that is read: the list of PCI ids has 1.4 MiB, `/proc/cpuinfo` of 1,000 threads 1.5.
 */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Timeout of a tool that hangs, for example on a broken driver. */
const PROGRAM_TIMEOUT_MS = 5_000;
const PROGRAM_BYTES_MAX = 256 * 1024;

/** This machine. */
export function thisMachine(): MachineSource {
  return machineAt('/', osFacts());
}

/** A machine with its files under `root`; programs run only if that is `/`. */
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

/**
 * Reads in pieces: files of `/proc` and `/sys` do not report their length. Does not wait for pipes
 * and devices.
 */
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
    // A file of /sys that the driver does not fill (the speed of a link that is down) fails when
    // read.
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
 * Stops reading once `shouldStop` returns true; it is called before every read.
 * @returns `isInterrupted`: true if something was therefore not read.
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
 * Text of a small file of this machine, read synchronously; null if it is missing (another system,
 * an ended process).
 */
export function ownText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** A folder of a machine's files; missing or unexpected entries are null. */
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

  /** Text of a file, or the last group of a pattern in it; null if empty. */
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

  /** Bytes from a line `KEY:  1024 kB`. */
  async kib(name: string, key: string): Promise<number | null> {
    const kib = await this.counter(name, new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm'));
    return kib === null ? null : kib * 1024;
  }

  /** See {@link text} and {@link parseCpuList}. */
  async cpuList(name: string, pattern?: RegExp): Promise<number[]> {
    return parseCpuList(await this.text(name, pattern));
  }

  /** Names in this folder that match a pattern. */
  async names(pattern: RegExp = /^/): Promise<string[]> {
    return (await this.source.names(this.path)).filter((name) => pattern.test(name));
  }

  /** The path of an entry with all links resolved. */
  target(name: string): Promise<string | null> {
    return this.source.target(`${this.path}/${name}`);
  }
}

/** Text for one line of JSON: no control characters, no surrounding space, not empty, bounded. */
export function cleanText(text: string | null | undefined): string | null {
  const clean = (text ?? '').replace(/\p{Cc}+/gu, ' ').trim();
  return clean === '' ? null : clean.slice(0, 256);
}

/** A number above 0 from a text, or null: kernels write 0 or -1 for unknown. */
export function positiveValue(text: string | null | undefined): number | null {
  const trimmed = (text ?? '').trim();
  if (!/^\d+(\.\d+)?$/.test(trimmed)) return null;
  const value = Number(trimmed);
  return value > 0 && Number.isFinite(value) ? value : null;
}

/** Most processors of a kernel: a list with more is corrupt. */
const CPU_MAX = 65_536;

/** Numbers of a kernel list (`0-3,8`); empty if malformed. */
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

/** The distinct words, joined by a text; null if there are none. */
export function joined(words: readonly (string | null)[], between: string): string | null {
  return [...new Set(words)].filter((word) => word !== null).join(between) || null;
}
