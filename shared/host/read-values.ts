import type { MachineSource } from './machine-source.ts';

/** Text for one line of JSON: no control characters, no space around it, not empty, not endless. */
export function cleanText(text: string | null | undefined): string | null {
  const clean = (text ?? '').replace(/\p{Cc}+/gu, ' ').trim();
  return clean === '' ? null : clean.slice(0, 256);
}

/** One line of text from a file. */
export async function readText(source: MachineSource, path: string): Promise<string | null> {
  return cleanText(await source.text(path));
}

/** A number above 0 from a text, or null: kernels write 0 or -1 for what they do not know. */
export function positiveValue(text: string | null | undefined): number | null {
  const trimmed = (text ?? '').trim();
  if (!/^\d+(\.\d+)?$/.test(trimmed)) return null;
  const value = Number(trimmed);
  return value > 0 && Number.isFinite(value) ? value : null;
}

/** A number above 0 from a file. */
export async function readNumber(source: MachineSource, path: string): Promise<number | null> {
  return positiveValue(await source.text(path));
}

/** More processors than a kernel can have: a list that names more is broken. */
const CPU_MAX = 65_536;

/** Numbers of a list as the kernel writes them (`0-3,8`); none where the text is not one. */
export function parseCpuList(text: string | null): readonly number[] {
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

/** Size as the kernel writes it: `1024K`, `32M`, in bytes. */
export function parseSize(text: string | null): number | null {
  const match = /^(\d+)([KMG]?)B?$/i.exec(text ?? '');
  if (match === null) return null;
  const factor =
    { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[(match[2] ?? '').toUpperCase()] ?? 1;
  return positiveValue(`${Number(match[1]) * factor}`);
}
