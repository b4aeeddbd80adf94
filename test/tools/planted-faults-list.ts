import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { listFiles } from './list-files.ts';

const FAULTS = z.array(
  z.strictObject({
    /** Says in a few words what goes wrong. */
    id: z.string(),
    /** Name of the function, method or constant that has `from`. */
    in: z.string(),
    /**
     * Code; white space in it stands for any white space, and there may be some around each sign.
     */
    from: z.string(),
    to: z.string(),
  }),
);

type Fault = z.infer<typeof FAULTS>[number];

/** A fault that a test has to find: `planted` takes the place of `text` in `file`. */
export interface PlantedFault {
  readonly id: string;
  readonly file: string;
  readonly text: string;
  readonly planted: string;
}

/** Code of the program, by its path below the root. */
type Sources = ReadonlyMap<string, string>;

const PROGRAM = /^(?:shared|qdl|loadgen-node|sut-node)\/.*\.ts$/;

/**
 * Reads the list of faults and looks for the place of each.
 * @throws ZodError for an entry of another form.
 * @throws Error for each fault whose text does not stand in one place.
 */
export function readPlantedFaults(root: string): PlantedFault[] {
  const list = parse(readFileSync(join(root, 'test/tools/planted-faults.yaml'), 'utf8'));
  const files = listFiles(root, 'all').filter((path) => PROGRAM.test(path));
  const sources = new Map(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  return placeFaults(FAULTS.parse(list), sources);
}

/** @throws Error With a line for each fault whose text does not stand in one place. */
export function placeFaults(faults: readonly Fault[], sources: Sources): PlantedFault[] {
  const errors: string[] = [];
  const placed = faults.flatMap((fault) => {
    const found = placesOf(fault, sources);
    if (found.length === 1) return found;
    const where = found.length === 0 ? 'nowhere' : found.map(({ file }) => file).join(' and ');
    errors.push(`"${fault.id}": its text stands in ${fault.in} ${where}, not in one place`);
    return [];
  });
  if (errors.length > 0) throw new Error(`faults that cannot be planted:\n${errors.join('\n')}`);
  return placed;
}

function placesOf(fault: Fault, sources: Sources): PlantedFault[] {
  const pattern = patternOf(fault.from);
  const found: PlantedFault[] = [];
  for (const [file, text] of sources) {
    if (text.search(pattern) < 0) continue;
    const places = new Map<number, number>();
    for (const { start, end } of declarationsOf(fault.in, text)) {
      for (const { 0: code, index } of text.slice(start, end).matchAll(pattern)) {
        places.set(start + index, code.length);
      }
    }
    for (const [at, length] of places) {
      const planted = text.slice(0, at) + fault.to + text.slice(at + length);
      found.push({ id: fault.id, file, text, planted });
    }
  }
  return found;
}

/** The formatter may break a line before or after any sign, and between words. */
function patternOf(code: string): RegExp {
  const tokens = code.match(/[\w$]+|[^\w\s]/g) ?? [];
  const escaped = tokens.map((token) => token.replace(/[^\w]/, '\\$&'));
  return new RegExp(escaped.join('\\s*'), 'g');
}

/** Where declarations of that name begin and end, by the formatter's indentation. */
function* declarationsOf(
  name: string,
  text: string,
): Generator<{ readonly start: number; readonly end: number }> {
  const words =
    '(?:export |async |static |private |readonly |override |get |set |function\\*? |const )*';
  const head = new RegExp(`^( *)${words}${name.replace('$', '\\$&')}\\b`, 'gm');
  for (const { 0: all, 1: indent = '', index: start } of text.matchAll(head)) {
    // Its other lines are empty, have a larger indentation, or close what it opened.
    const next = new RegExp(`\\n(?!\\n|${indent} |${indent}[)}\\]])`, 'g');
    next.lastIndex = start + all.length;
    yield { start, end: next.exec(text)?.index ?? text.length };
  }
}
