import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from './list-files.ts';
import { countLines } from './source-text.ts';

/** Lines are counted without blank ones; words are those of Markdown files. */
export interface SizeRow {
  /** `loadgen-node`, `test`, `docs`...: rows of one group stand together and have a total. */
  readonly group: string;
  /** Folder of the group; `(root)`: files directly in it. */
  readonly room: string;
  readonly files: number;
  readonly code: number;
  readonly comments: number;
  readonly words: number;
}

export interface SizeTable {
  readonly rows: readonly SizeRow[];
  readonly totals: readonly SizeRow[];
}

type Figure = 'files' | 'code' | 'comments' | 'words';
const FIGURES: readonly Figure[] = ['files', 'code', 'comments', 'words'];

const PRODUCT = ['proto', 'shared', 'qdl', 'loadgen-node', 'sut-node'];
const GROUPS = [...PRODUCT, 'test', 'tools', 'deploy', 'docs'];
const TOOL_FOLDERS = ['test/tools', 'test/bench'];

/**
 * Sizes of the project's files by group and room. Generated code (`proto/gen`), recorded data and
 * other file types are left out.
 */
export function measureSize(root: string): SizeTable {
  const rows = new Map<string, SizeRow>();
  for (const path of listFiles(root, 'tracked')) {
    const place = placeOf(path);
    if (place === undefined) continue;
    const row = sizeOf(path, readFileSync(join(root, path), 'utf8'), place);
    const key = `${place.group} ${place.room}`;
    rows.set(key, add(rows.get(key), row));
  }
  const sorted = [...rows.values()].sort(
    (a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) || (a.room < b.room ? -1 : 1),
  );
  return { rows: sorted, totals: totalsOf(sorted) };
}

/**
 * A row for each folder with all files below it, and the sum: for folders that other rows count
 * among others.
 */
export function foldersText(root: string, folders: readonly string[]): string {
  const files = listFiles(root, 'tracked').filter((path) => placeOf(path) !== undefined);
  const place = { group: '', room: '' };
  const none = { ...place, files: 0, code: 0, comments: 0, words: 0 };
  const rows = folders.map((folder) =>
    files
      .filter((path) => path === folder || path.startsWith(`${folder.replace(/\/$/, '')}/`))
      .map((path) => sizeOf(path, readFileSync(join(root, path), 'utf8'), place))
      .reduce(add, none),
  );
  const lines = rows.map((row, i) => cells(folders[i] as string, row));
  return aligned([HEAD, ...lines, cells('together', rows.reduce(add, none))]);
}

type Place = Pick<SizeRow, 'group' | 'room'>;

/** @returns undefined for a file that is not counted. */
function placeOf(path: string): Place | undefined {
  if (path.startsWith('proto/gen/')) return undefined;
  const parts = path.split('/');
  const [top = '', second = ''] = parts;
  const room = parts.length > 2 ? second : '(root)';
  if (path.endsWith('.md')) return { group: 'docs', room: roomOfDocument(parts, room) };
  const isProduct = PRODUCT.includes(top);
  if (isProduct && /\.(?:html|css)$/.test(path))
    return { group: top, room: 'live page: html, css' };
  const isCode = /\.(?:ts|mjs|js|py|sh)$/.test(path) || (top === 'deploy' && /\.ya?ml$/.test(path));
  if (!isCode) return undefined;
  if (parts.length === 1) return { group: 'tools', room: '(top folder)' };
  const tool = TOOL_FOLDERS.find((folder) => path.startsWith(`${folder}/`));
  if (tool !== undefined) return { group: 'tools', room: tool };
  return GROUPS.includes(top) ? { group: top, room } : undefined;
}

function roomOfDocument(parts: readonly string[], room: string): string {
  if (parts[0] === 'docs') return room;
  return parts.length === 1 ? '(top folder)' : '(beside code)';
}

function sizeOf(path: string, text: string, place: Place): SizeRow {
  if (!path.endsWith('.md')) return { ...place, files: 1, ...countLines(path, text), words: 0 };
  const words = text.split(/\s+/).filter((word) => word !== '').length;
  return { ...place, files: 1, code: 0, comments: 0, words };
}

function add(sum: SizeRow | undefined, row: SizeRow): SizeRow {
  if (sum === undefined) return row;
  const figures = FIGURES.map((figure) => [figure, sum[figure] + row[figure]]);
  return { ...sum, ...(Object.fromEntries(figures) as Record<Figure, number>) };
}

/** One row for each group, then one for the product and one for everything. */
function totalsOf(rows: readonly SizeRow[]): SizeRow[] {
  const total = (name: string, groups: readonly string[]): SizeRow => {
    const none: SizeRow = { group: name, room: '', files: 0, code: 0, comments: 0, words: 0 };
    return rows.filter((row) => groups.includes(row.group)).reduce(add, none);
  };
  const present = GROUPS.filter((group) => rows.some((row) => row.group === group));
  return [
    ...present.map((group) => total(group, [group])),
    total('product', PRODUCT),
    total('all', GROUPS),
  ];
}

/**
 * The table as text: rooms below the total of their group, then the totals of product and
 * everything.
 */
export function sizeText(table: SizeTable): string {
  const lines = table.totals.flatMap((total) => [
    cells(total.group, total),
    ...table.rows
      .filter((row) => row.group === total.group)
      .map((row) => cells(`  ${row.room}`, row)),
  ]);
  return aligned([HEAD, ...lines]);
}

const HEAD = ['folder', ...FIGURES];

function cells(name: string, row: SizeRow): string[] {
  return [name, ...FIGURES.map((figure) => row[figure].toLocaleString('en-US'))];
}

/** Columns side by side: the first to the left, figures to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}
