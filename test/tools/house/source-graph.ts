import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { listFiles } from '../list-files.ts';
import { maskSource } from '../source-text.ts';

/** One file names another; imports of types count. */
export interface Import {
  readonly from: string;
  /** 1 is the first. */
  readonly line: number;
  readonly to: string;
}

export interface Export {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** `export ... from` */
  readonly isAgain: boolean;
}

/** A name in code, or a literal that is one: `oipPlan`, `'oip'`. */
export interface Word {
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

/** Imports and exports of the product's sources. Paths are below the root, with `/`. */
export interface SourceGraph {
  /** All files of the project, sources or not. */
  readonly files: readonly string[];
  readonly sources: readonly string[];
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
  /** Those with the name of a protocol in them. */
  readonly protocolWords: readonly Word[];
  /** Lines of each source, blank ones and comments among them. */
  readonly lines: ReadonlyMap<string, number>;
  /** Lines of comments above 100 columns; rows of tables are left out. */
  readonly wideComments: readonly Omit<Word, 'text'>[];
}

/**
 * Reads the TypeScript sources of some folders; generated ones (`proto/gen`) are no sources.
 * @param protocols Their names, in lower case.
 */
export function readSources(
  root: string,
  packages: readonly string[],
  protocols: readonly string[],
): SourceGraph {
  const files = listFiles(root, 'all');
  const known = new Set(files);
  const sources = files.filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.startsWith('proto/gen/') &&
      packages.some((folder) => file.startsWith(`${folder}/`)),
  );
  const imports: Import[] = [];
  const exports: Export[] = [];
  const protocolWords: Word[] = [];
  const lines = new Map<string, number>();
  const wideComments: Omit<Word, 'text'>[] = [];
  for (const file of sources) {
    const text = readFileSync(join(root, file), 'utf8');
    const masked = maskSource(text);
    for (const { path, line } of readImports(text, masked)) {
      const to = resolve(file, path, known);
      if (to !== undefined) imports.push({ from: file, line, to });
    }
    for (const found of readExports(masked)) exports.push({ ...found, file });
    for (const found of readWords(text, masked, protocols)) protocolWords.push({ ...found, file });
    for (const line of readWideComments(text, masked)) wideComments.push({ file, line });
    lines.set(file, text.replace(/\n$/, '').split('\n').length);
  }
  return { files, sources, imports, exports, protocolWords, lines, wideComments };
}

const COLUMNS_MAX = 100;

/** Numbers of lines that are comment alone, and too wide. */
function readWideComments(text: string, masked: string): number[] {
  const code = masked.split('\n');
  return text
    .split('\n')
    .flatMap((line, i) =>
      line.length > COLUMNS_MAX && code[i]?.trim() === '' && !/^\s*\* \|/.test(line) ? [i + 1] : [],
    );
}

const IMPORT =
  /(?<![.\w$])(?:import\s*\(?\s*|(?:import|export)\b[\w$\s{},*]*?\bfrom\s*)(['"`])(_*)\1/g;
const DECLARED =
  /(?<![.\w$])export\s+(?:(?:declare|abstract|async)\s+)*(?:const\s+enum\s|const\s|let\s|var\s|function\b\s*\*?|class\s|interface\s|type\s|enum\s|namespace\s)\s*([\w$]+)/g;
const LISTED =
  /(?<![.\w$])export\s*(?:type\s*)?(?:\{([^}]*)\}|\*\s*as\s+([\w$]+))(\s*from(?![\w$]))?/g;

/** Imports of every kind: static, of types, again exported, and `import('...')` of a fixed path. */
function readImports(text: string, masked: string): { path: string; line: number }[] {
  return [...masked.matchAll(IMPORT)].map(({ 0: found, 2: literal = '', index }) => {
    const end = index + found.length - 1;
    return { path: text.slice(end - literal.length, end), line: lineAt(text, end) };
  });
}

function readExports(masked: string): Omit<Export, 'file'>[] {
  const declared = [...masked.matchAll(DECLARED)].map(({ 1: name = '', index }) => ({
    name,
    line: lineAt(masked, index),
    isAgain: false,
  }));
  const listed = [...masked.matchAll(LISTED)].flatMap(({ 1: list, 2: space, 3: from, index }) =>
    (space ?? list ?? '')
      .split(',')
      .map((item) => item.trim().split(/\s+/).at(-1) ?? '')
      .filter((name) => name !== '' && name !== 'default')
      .map((name) => ({ name, line: lineAt(masked, index), isAgain: from !== undefined })),
  );
  return [...declared, ...listed];
}

/**
 * Names and literals of code with one of these words in them: `isOipAddress` has `oip`, `doipad`
 * has not.
 */
function readWords(
  text: string,
  masked: string,
  protocols: readonly string[],
): Omit<Word, 'file'>[] {
  const names = [...masked.matchAll(/[A-Za-z$][\w$]*/g)].filter(([name]) =>
    name
      .replace(/([a-z\d])([A-Z])/g, '$1_$2')
      .split('_')
      .some((part) => protocols.includes(part.toLowerCase())),
  );
  const literals = [...masked.matchAll(/(['"`])_+\1/g)].filter(({ 0: { length }, index }) =>
    protocols.includes(text.slice(index + 1, index + length - 1)),
  );
  return [...names, ...literals].map(({ 0: { length }, index }) => ({
    text: text.slice(index, index + length),
    line: lineAt(text, index),
  }));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/**
 * @returns The file that a relative path names; undefined for a package, or a file that is not in
 *   the project.
 */
function resolve(file: string, path: string, known: ReadonlySet<string>): string | undefined {
  if (!path.startsWith('.')) return undefined;
  const target = posix.join(dirname(file), path);
  return [target, target.replace(/\.js$/, '.ts')].find((name) => known.has(name));
}
