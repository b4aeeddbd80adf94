import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  defaultTestSettings,
  SETTINGS_FIELDS,
  type TestSettings,
} from '../../../loadgen-node/loadgen/settings/test-settings.ts';

const GOLDEN = new URL('../../golden/', import.meta.url);

/** Reads one golden file, by its path below `test/golden`. */
export function readGolden<T>(path: string): T {
  return JSON.parse(readGoldenText(path)) as T;
}

/** As {@link readGolden}, for a file that is not JSON. */
export function readGoldenText(path: string): string {
  return readFileSync(new URL(path, GOLDEN), 'utf8');
}

/** Names of the golden files of a folder, without `.json`. */
export function goldenNames(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, GOLDEN))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
}

/** Names of the folders of a folder of golden files. */
export function goldenFolders(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, GOLDEN), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** SHA-256 over values, each as 8 bytes, low byte first: whole numbers as integers. */
export function sha256OfUint64(values: ArrayLike<number>): string {
  const words = new Uint32Array(2 * values.length);
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    words[2 * i] = value % 2 ** 32;
    words[2 * i + 1] = Math.floor(value / 2 ** 32);
  }
  return createHash('sha256').update(words).digest('hex');
}

/** SHA-256 over values, each as an IEEE double, low byte first. */
export function sha256OfDoubles(values: Iterable<number>): string {
  return createHash('sha256')
    .update(new Uint8Array(Float64Array.from(values).buffer))
    .digest('hex');
}

/** Reads the bits of a double from 16 hex digits, most significant first. */
export function doubleOfBits(hex: string): number {
  return Buffer.from(hex, 'hex').readDoubleBE(0);
}

/** Test settings of the arguments (LoadGen's field names) with which a golden file was made. */
export function settingsOfArgs(args: Readonly<Record<string, string>>): TestSettings {
  const asked = [{ field: 'scenario', name: 'scenario', type: 'mode' }, ...SETTINGS_FIELDS]
    .filter(({ name }) => args[name] !== undefined)
    .map(({ field, name, type }) => [field, settingOf(type, args[name] as string)]);
  return { ...defaultTestSettings(), ...Object.fromEntries(asked) };
}

function settingOf(type: string, word: string): unknown {
  if (type === 'mode') return word;
  if (type === 'bool') return word === '1';
  return type === 'seed' ? BigInt(word) : Number(word);
}

/** Path of a golden file, for what opens files itself. */
export function goldenPath(path: string): string {
  return fileURLToPath(new URL(path, GOLDEN));
}
