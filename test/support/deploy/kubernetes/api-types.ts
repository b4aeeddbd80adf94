import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from './render.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const MODULES = join(ROOT, 'node_modules');

const OPTIONS = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  moduleResolution: 'nodenext',
  target: 'es2023',
  skipLibCheck: true,
  exactOptionalPropertyTypes: true,
  types: [],
};

/**
 * Holds objects against the API's types (kubernetes-models, made of the API's own schema): each is written down as a literal of
 * its interface, and the compiler finds unknown fields, at any depth, wrong types and what is missing.
 * @returns `Kind/name: path: what`, in the order of the objects; an object whose type nobody knows is one of them.
 */
export function typeErrors(objects: readonly KubeObject[]): string[] {
  mkdirSync(join(MODULES, '.cache'), { recursive: true });
  // Below node_modules, so that the types are found from it.
  const folder = mkdtempSync(join(MODULES, '.cache', 'kubernetes-types-'));
  try {
    const unknown: string[] = [];
    const literals = new Map<string, Literal>();
    for (const [i, object] of objects.entries()) {
      const module = moduleOf(object);
      if (module === undefined) {
        unknown.push(`${nameOf(object)}: no type of ${object.apiVersion} ${object.kind} is known`);
        continue;
      }
      const literal = literalOf(object, module);
      literals.set(`object-${i}.ts`, literal);
      writeFileSync(join(folder, `object-${i}.ts`), literal.source);
    }
    const config = { compilerOptions: OPTIONS, files: [...literals.keys()] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    return literals.size === 0 ? unknown : [...unknown, ...compile(folder, literals)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An object as source text, and the path of the field that each line holds. */
interface Literal {
  readonly name: string;
  readonly source: string;
  readonly paths: readonly string[];
}

function compile(folder: string, literals: ReadonlyMap<string, Literal>): string[] {
  const compiler = join(MODULES, 'typescript', 'bin', 'tsc');
  const args = [compiler, '--pretty', 'false', '-p', folder];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const errors = new Map([...literals.keys()].map((file) => [file, [] as string[]]));
  for (const line of stdout.split('\n')) {
    const [, file = '', row = '', message = ''] =
      /^(\S+)\((\d+),\d+\): error (TS\d+: .*)$/.exec(line) ?? [];
    const literal = literals.get(file);
    if (literal === undefined) continue;
    errors.get(file)?.push(`${literal.name}: ${literal.paths[Number(row) - 1]}: ${message}`);
  }
  const found = [...errors.values()].flat();
  if (status !== 0 && found.length === 0) throw new Error(`the compiler failed: ${stdout}`);
  return found;
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}

/** Module that has the interface of an object; undefined where there is none. */
function moduleOf({ apiVersion, kind }: KubeObject): string | undefined {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const folder = group === '' ? version : `${group}/${version}`;
  const candidates = [
    `kubernetes-models/${folder}/${kind}`,
    `@kubernetes-models/prometheus-operator/${folder}/${kind}`,
  ];
  return candidates.find((module) => existsSync(join(MODULES, `${module}.d.ts`)));
}

function literalOf(object: KubeObject, module: string): Literal {
  const type = `I${object.kind}`;
  const lines: Line[] = [
    { text: `import type { ${type} } from '${module}';`, path: '' },
    { text: `export const object: ${type} =`, path: '' },
    ...linesOf(object, '', ['', ';']),
  ];
  return {
    name: nameOf(object),
    source: `${lines.map(({ text }) => text).join('\n')}\n`,
    paths: lines.map(({ path }) => path),
  };
}

interface Line {
  readonly text: string;
  readonly path: string;
}

/** A value as source text, a line for each field. @param around What stands before and behind it. */
function linesOf(
  value: unknown,
  path: string,
  [before, behind]: readonly [string, string],
): Line[] {
  if (Array.isArray(value)) {
    return [
      { text: `${before}[`, path },
      ...value.flatMap((inner, i) => linesOf(inner, `${path}[${i}]`, ['', ','])),
      { text: `]${behind}`, path },
    ];
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).flatMap(([key, inner]) =>
      linesOf(inner, path === '' ? key : `${path}.${key}`, [`${JSON.stringify(key)}: `, ',']),
    );
    return [{ text: `${before}{`, path }, ...fields, { text: `}${behind}`, path }];
  }
  return [{ text: `${before}${JSON.stringify(value)}${behind}`, path }];
}
