import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { parseAst } from 'vite';

/** Something that a compiled file names: another file, or a package. */
export interface Reference {
  /** A path below the folder of compiled files, or the name of a package. */
  readonly target: string;
  readonly kind: 'file' | 'package';
  /** 1 is the first. */
  readonly line: number;
  /** It is loaded when it is needed, so that the file itself loads without it. */
  readonly isLazy: boolean;
  /** The verb in whose row of the command line's table it stands. */
  readonly verb: string | undefined;
}

/** What one compiled file needs. */
export interface ModuleReferences {
  readonly references: readonly Reference[];
  /** It loads `KEY/benchmark.js` of every benchmark in its own folder. */
  readonly loadsBenchmarks: boolean;
  /** Lines that load a module whose path is computed. */
  readonly computedLines: readonly number[];
  /** Keys of the table of verbs; none in other files. */
  readonly verbs: readonly string[];
}

/** A node of the syntax tree (ESTree, with TypeScript's own in declarations). */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A path of a compiled file, as `compiledModule` and `runFitThread` are given it: below `dist/`. */
const COMPILED_PATH = /^(?:loadgen-node|qdl|shared|sut-node)\/[\w./-]+\.(?:js|html)$/;

/**
 * Reads what a compiled file, or a source, imports, requires or loads by path.
 * @param file Its path below the folder of compiled files, with `/`.
 * @throws Error where it cannot be parsed
 */
export function moduleReferences(file: string, text: string): ModuleReferences {
  const program = parseAst(text, { lang: languageOf(file) });
  const found = new Finder(file, text);
  found.visit(program as unknown as Node);
  return found.result();
}

function languageOf(file: string): 'dts' | 'js' | 'ts' {
  if (file.endsWith('.d.ts')) return 'dts';
  return file.endsWith('.ts') ? 'ts' : 'js';
}

class Finder {
  readonly #file: string;
  readonly #text: string;
  readonly #references: (Omit<Reference, 'verb'> & { readonly at: number })[] = [];
  readonly #computedLines: number[] = [];
  #verbRows: readonly Node[] = [];
  #loadsBenchmarks = false;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  visit(node: Node): void {
    this.#look(node);
    for (const child of Object.values(node)) {
      for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) this.visit(one);
    }
  }

  result(): ModuleReferences {
    const rows = this.#verbRows.map(({ start, end, key }) => ({ start, end, verb: keyName(key) }));
    const verbAt = (at: number): string | undefined =>
      rows.find(({ start, end }) => at >= start && at < end)?.verb;
    return {
      references: this.#references.map(({ at, ...rest }) => ({ ...rest, verb: verbAt(at) })),
      loadsBenchmarks: this.#loadsBenchmarks,
      computedLines: this.#computedLines,
      verbs: rows.map(({ verb }) => verb),
    };
  }

  #look(node: Node): void {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
      case 'TSImportType':
        this.#addModule(node, node['source'], false);
        break;
      case 'ImportExpression':
        this.#addModule(node, node['source'], true);
        break;
      case 'CallExpression':
        this.#lookAtCall(node);
        break;
      case 'VariableDeclarator':
        if (nameOf(node['id']) === 'VERBS') this.#verbRows = rowsOf(node['init']);
        break;
      case 'Literal':
        if (typeof node['value'] === 'string' && COMPILED_PATH.test(node['value'])) {
          this.#add(node, node['value'], 'file', true);
        }
    }
  }

  #lookAtCall(node: Node): void {
    const name = nameOf(node['callee']);
    if (name === 'loadBenchmarkModule') this.#loadsBenchmarks = true;
    if (name === 'require') this.#addModule(node, (node['arguments'] as unknown[])[0], true);
  }

  #addModule(node: Node, source: unknown, isLazy: boolean): void {
    // An export of what the file itself declares.
    if (source === null || source === undefined) return;
    const specifier = literalOf(source);
    if (specifier === undefined) {
      this.#computedLines.push(this.#lineOf(node));
    } else if (specifier.startsWith('.')) {
      // Declarations name each other as TypeScript's sources do.
      const path = this.#file.endsWith('.d.ts')
        ? specifier.replace(/\.(?:ts|js)$/, '.d.ts')
        : specifier;
      this.#add(node, posix.join(posix.dirname(this.#file), path), 'file', isLazy);
    } else if (!isBuiltin(specifier)) {
      this.#add(node, packageOf(specifier), 'package', isLazy);
    }
  }

  #add(node: Node, target: string, kind: Reference['kind'], isLazy: boolean): void {
    this.#references.push({ target, kind, line: this.#lineOf(node), isLazy, at: node.start });
  }

  #lineOf({ start }: Node): number {
    return this.#text.slice(0, start).split('\n').length;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function nameOf(node: unknown): unknown {
  return isNode(node) ? node['name'] : undefined;
}

/** The text of a string; undefined for anything that is computed. */
function literalOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  // `import('x')` as a type has its string in a type of its own.
  const literal = node.type === 'TSLiteralType' ? node['literal'] : node;
  const value = isNode(literal) ? literal['value'] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function rowsOf(node: unknown): Node[] {
  const properties = isNode(node) ? node['properties'] : undefined;
  return Array.isArray(properties) ? properties.filter(isNode) : [];
}

function keyName(key: unknown): string {
  return String(nameOf(key) ?? literalOf(key));
}

/** `@scope/name` or `name`, without the path inside the package. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
