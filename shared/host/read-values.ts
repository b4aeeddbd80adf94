import type { MachineSource } from './machine-source.ts';

/** A folder of a machine's files; what is not there, or not as expected, is null. */
export class FactFolder {
  readonly source: MachineSource;
  readonly path: string;

  constructor(source: MachineSource, path: string) {
    this.source = source;
    this.path = path;
  }

  /** A folder below this one. */
  in(name: string): FactFolder {
    return new FactFolder(this.source, `${this.path}/${name}`);
  }

  text(name: string): Promise<string | null> {
    return this.source.text(`${this.path}/${name}`);
  }

  /** See {@link cleanText}. */
  async line(name: string): Promise<string | null> {
    return cleanText(await this.text(name));
  }

  /** See {@link positiveValue}. */
  async number(name: string): Promise<number | null> {
    return positiveValue(await this.text(name));
  }

  /** See {@link parseCpuList}. */
  async cpuList(name: string): Promise<number[]> {
    return parseCpuList(await this.text(name));
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

/** Bytes by a line `KEY:  1024 kB` of a file of `/proc`. */
export function kibIn(text: string, key: string): number | null {
  const digits = new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1];
  return digits === undefined ? null : Number(digits) * 1024;
}

/** The words that are there, once each, with a text between them; null for none. */
export function joined(words: readonly (string | null)[], between: string): string | null {
  return [...new Set(words)].filter((word) => word !== null).join(between) || null;
}
