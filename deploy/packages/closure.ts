import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { type ModuleReferences, moduleReferences } from './module-references.ts';

/** The table of verbs: a package follows the rows of its own verbs only. */
const VERB_TABLE = 'loadgen-node/cli/verbs.js';

/** Files that load a path which they are given: whoever gives it names it as a string, and is found by that. */
const GIVEN_PATHS: readonly string[] = [
  'shared/rules/benchmark-module.js',
  // The version of a package that the file itself requires by name.
  'shared/compression/lz4-block.js',
];

/** What a package must hold and depend on. */
export interface Closure {
  /** Compiled files below `dist/` by path with `/`, in order of their names. */
  readonly files: readonly string[];
  /** Packages that are imported, in order of their names. */
  readonly packages: readonly ImportedPackage[];
  /** Verbs of the command line that are in it. */
  readonly verbs: readonly string[];
  /** How a file came in, from the root to the file itself. */
  wayTo(file: string): readonly string[];
}

/** A package that files of a closure import. */
export interface ImportedPackage {
  readonly name: string;
  /** The first file that imports it, and the line. */
  readonly from: string;
  /** Every import of it is made when it is needed: the program starts without it. */
  readonly isLazy: boolean;
}

/** Where a closure begins. */
export interface ClosureRoots {
  /** Compiled files below `dist/`. */
  readonly files: readonly string[];
  /** Verbs of the command line; `all` of them. */
  readonly verbs: readonly string[] | 'all';
}

/** What compiled files name, by file: reading them is most of the work. */
export type ParsedFiles = Map<string, ModuleReferences>;

/**
 * Follows imports, exports, `require` and paths that files are loaded by, from the roots to everything that is reached.
 * @param dist Folder of compiled files.
 * @param parsed What was read for another closure of the same folder; what is read goes there, too.
 * @throws MlperfError `ERR_NOT_INSTALLED` for a file that is named and not there, `ERR_INTERNAL` for a path that is
 *   computed where nobody has said how, `ERR_CONFIG_INVALID` for a verb that there is not
 */
export function closureOf(
  dist: string,
  roots: ClosureRoots,
  parsed: ParsedFiles = new Map(),
): Closure {
  const search = new Search(dist, roots, parsed);
  for (const file of roots.files) search.reach(file, undefined);
  search.followAll();
  return search.closure();
}

class Search {
  readonly #dist: string;
  readonly #roots: ClosureRoots;
  readonly #parsed: ParsedFiles;
  /** File → file by which it was reached first. */
  readonly #reachedBy = new Map<string, string | undefined>();
  readonly #packages = new Map<string, ImportedPackage>();
  readonly #waiting: string[] = [];
  #verbs: readonly string[] = [];

  constructor(dist: string, roots: ClosureRoots, parsed: ParsedFiles) {
    this.#dist = dist;
    this.#roots = roots;
    this.#parsed = parsed;
  }

  reach(file: string, from: string | undefined, line?: number): void {
    if (this.#reachedBy.has(file)) return;
    if (!existsSync(join(this.#dist, file))) {
      const who = from === undefined ? 'a root of a package' : `${from}:${line} names it`;
      throw new MlperfError('ERR_NOT_INSTALLED', `${join(this.#dist, file)} is missing: ${who}`);
    }
    this.#reachedBy.set(file, from);
    this.#waiting.push(file);
  }

  followAll(): void {
    for (let file = this.#waiting.pop(); file !== undefined; file = this.#waiting.pop()) {
      if (!file.endsWith('.html')) this.#follow(file);
    }
  }

  closure(): Closure {
    const wayTo = (file: string): string[] => {
      const from = this.#reachedBy.get(file);
      return from === undefined ? [file] : [...wayTo(from), file];
    };
    return {
      files: [...this.#reachedBy.keys()].sort(),
      packages: [...this.#packages.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      verbs: this.#verbs,
      wayTo,
    };
  }

  #follow(file: string): void {
    const found =
      this.#parsed.get(file) ??
      moduleReferences(file, readFileSync(join(this.#dist, file), 'utf8'));
    this.#parsed.set(file, found);
    checkComputed(file, found);
    if (file === VERB_TABLE) this.#verbs = chosenVerbs(found.verbs, this.#roots.verbs);
    for (const { target, kind, line, isLazy, verb } of found.references) {
      if (verb !== undefined && !this.#verbs.includes(verb)) continue;
      if (kind === 'file') this.reach(target, file, line);
      else this.#addPackage(target, `${file}:${line}`, isLazy);
    }
    if (found.loadsBenchmarks) this.#reachBenchmarks(file);
  }

  #addPackage(name: string, from: string, isLazy: boolean): void {
    const before = this.#packages.get(name);
    if (before === undefined || (before.isLazy && !isLazy)) {
      this.#packages.set(name, { name, from, isLazy });
    }
  }

  /** Every folder beside the file that has a benchmark's code. */
  #reachBenchmarks(file: string): void {
    const folder = posix.dirname(file);
    for (const key of readdirSync(join(this.#dist, dirname(file)))) {
      const module = `${folder}/${key}/benchmark.js`;
      if (existsSync(join(this.#dist, module))) this.reach(module, file);
    }
  }
}

/** A path that is computed must come from a string of this file, or from those who call it. */
function checkComputed(file: string, { computedLines, references }: ModuleReferences): void {
  if (GIVEN_PATHS.includes(file)) return;
  const named = references.filter(({ kind, isLazy }) => kind === 'file' && isLazy);
  if (computedLines.length <= named.length) return;
  throw new MlperfError(
    'ERR_INTERNAL',
    `${file}:${computedLines[0]} loads a path that is computed: name it there as a string below dist, ` +
      'or say in deploy/packages/closure.ts who gives it',
  );
}

function chosenVerbs(known: readonly string[], wanted: readonly string[] | 'all'): string[] {
  const unknown = wanted === 'all' ? undefined : wanted.find((verb) => !known.includes(verb));
  if (unknown !== undefined) {
    const text = `there is no verb ${unknown}; there is: ${known.join(', ')}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  return wanted === 'all' ? [...known] : known.filter((verb) => wanted.includes(verb));
}
