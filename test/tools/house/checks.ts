import { dirname } from 'node:path';
import { type Graph, graphOf, rings, wayRound } from './circles.ts';
import { type HouseRules, ROOT, SORTED_FOLDERS } from './rules.ts';
import type { Export, Import, SourceGraph } from './source-graph.ts';

/** Kinds of offences, in the order of the report. */
export const KINDS = [
  'circle of files',
  'circle of folders',
  'import against the layers',
  'import of the QDL',
  'name of a protocol',
  'folder without a layer',
  'name of two folders',
  'long verb',
  'wide comment',
  'needless exception',
] as const;

export interface Offence {
  readonly kind: (typeof KINDS)[number];
  /** One line: what, where, and what would be right. */
  readonly text: string;
}

/** Everything in which the sources break the rules, in the order of `KINDS`. */
export function checkHouse(house: SourceGraph, rules: HouseRules): Offence[] {
  const texts: Record<Offence['kind'], string[]> = {
    'circle of files': fileCircles(house),
    'circle of folders': folderCircles(house),
    'import against the layers': house.imports.flatMap((each) => againstLayers(each, rules)),
    'import of the QDL': house.imports.flatMap((each) => qdlImport(each, rules)),
    'name of a protocol': protocolNames(house, rules),
    'folder without a layer': foldersWithoutLayer(house, rules),
    'name of two folders': doubleNames(house, rules),
    'long verb': longVerbs(house, rules),
    'wide comment': house.wideComments.map(
      ({ file, line }) => `${file}:${line} is a comment above 100 columns: break the line`,
    ),
    'needless exception': needlessExceptions(house, rules),
  };
  return KINDS.flatMap((kind) => texts[kind].map((text) => ({ kind, text })));
}

function fileCircles({ imports }: SourceGraph): string[] {
  const graph = graphOf(imports.map(({ from, to }) => [from, to]));
  const alone = imports
    .filter(({ from, to }) => from === to)
    .map(({ from, line }) => `${from}:${line} imports itself: take the import out`);
  return [
    ...alone,
    ...rings(graph).map((ring) => {
      const way = wayRound(graph, ring);
      const places = way.slice(0, -1).map((from, i) => placeOfFirst(imports, from, way[i + 1]));
      const size = `${ring.length} files import each other`;
      return `${size}: ${[...places, way.at(-1)].join(' -> ')}; put what both need into the lower file`;
    }),
  ];
}

function placeOfFirst(imports: readonly Import[], from: string, to: string | undefined): string {
  return `${from}:${imports.find((each) => each.from === from && each.to === to)?.line}`;
}

/** A circle among the folders of one parent. */
interface FolderCircle {
  readonly graph: Graph;
  readonly ring: readonly string[];
  /** Imports by arrow, `from to`. */
  readonly imports: ReadonlyMap<string, readonly Import[]>;
}

/**
 * Circles of folders at each depth from two. A folder's direct files are a node beside its folders.
 * At each depth only imports within one folder of the depth above count: a circle through several
 * of those is one of theirs.
 */
export function circlesOfFolders(house: Pick<SourceGraph, 'imports'>): FolderCircle[] {
  const circles: FolderCircle[] = [];
  const deepest = Math.max(0, ...house.imports.map(({ from }) => from.split('/').length - 1));
  for (let depth = 2; depth <= deepest; depth++) {
    const imports = new Map<string, Import[]>();
    for (const each of house.imports) {
      const [from, to] = [folderAt(each.from, depth), folderAt(each.to, depth)];
      if (from === to || folderAt(each.from, depth - 1) !== folderAt(each.to, depth - 1)) continue;
      const arrow = `${from} ${to}`;
      imports.set(arrow, [...(imports.get(arrow) ?? []), each]);
    }
    const graph = graphOf([...imports.keys()].map((arrow) => arrow.split(' ') as [string, string]));
    for (const ring of rings(graph)) circles.push({ graph, ring, imports });
  }
  return circles;
}

function folderAt(file: string, depth: number): string {
  return dirname(file).split('/').slice(0, depth).join('/');
}

function folderCircles(house: SourceGraph): string[] {
  return circlesOfFolders(house).map(({ graph, ring, imports }) => {
    const way = wayRound(graph, ring);
    const arrows = way.slice(1).map((to, i) => {
      const all = imports.get(`${way[i]} ${to}`) ?? [];
      const [first] = all;
      const more = all.length > 1 ? ` and ${all.length - 1} more` : '';
      return `${way[i]} -> ${to} (${first?.from}:${first?.line} imports ${first?.to}${more})`;
    });
    const size = `${ring.length} folders import each other`;
    const others = ring.length > way.length - 1 ? ` (all: ${ring.join(', ')})` : '';
    return `${size}: ${arrows.join(', ')}${others}; let the upper one alone import`;
  });
}

interface Place {
  readonly top: string;
  /** `ROOT` for a file directly in a package. */
  readonly folder: string;
}

function placeOf(file: string): Place {
  const [top = '', second = '', ...rest] = file.split('/');
  if (rest.length === 0) return { top, folder: ROOT };
  const isSorted = rest.length > 1 && SORTED_FOLDERS.includes(`${top}/${second}`);
  return { top, folder: isSorted ? `${second}/${rest[0]}` : second };
}

function againstLayers({ from, line, to }: Import, rules: HouseRules): string[] {
  const [a, b] = [placeOf(from), placeOf(to)];
  const what = `${from}:${line} imports ${to}`;
  if (a.top !== b.top) {
    const allowed = rules.packages[a.top] ?? [];
    if (allowed.includes(b.top)) return [];
    return [`${what}: ${a.top} may import ${allowed.join(', ') || 'no other package'}`];
  }
  const layers = rules.layers[a.top] ?? [];
  const layerOf = (folder: string): number =>
    layers.findIndex((folders) => folders.includes(folder));
  const [upper, lower] = [layerOf(a.folder), layerOf(b.folder)];
  if (a.folder === b.folder || upper < 0 || lower < 0 || upper > lower) return [];
  const name = ({ top, folder }: Place): string =>
    folder === ROOT ? `the root of ${top}` : folder;
  const how =
    upper === lower
      ? `${name(a)} and ${name(b)} share a layer; what both need goes to a layer below`
      : `${name(b)} stands above ${name(a)}; what ${name(a)} needs goes to its own layer or below`;
  return [`${what}: ${how}`];
}

function qdlImport({ from, line, to }: Import, rules: HouseRules): string[] {
  if (!to.startsWith('qdl/') || !from.startsWith('loadgen-node/')) return [];
  const what = `${from}:${line} imports ${to}`;
  // The list of protocols holds facts alone: every folder may ask them.
  if (to === 'qdl/protocols/index.ts') return [];
  if (to !== 'qdl/index.ts') return [`${what}: only qdl/index.ts may be imported from outside`];
  // The entry of the package hands on what a program needs for a protocol of its own.
  if (rules.entries.includes(from) || rules.mayImportQdl.includes(placeOf(from).folder)) return [];
  return [`${what}: only ${rules.mayImportQdl.join(', ')} may; let one of them pass it in`];
}

/** Files that may name a protocol: its own, and those of a reason. */
function mayNameProtocols(file: string, { protocolPlaces }: HouseRules): boolean {
  return Object.keys(protocolPlaces).some((place) => file === place || isBelow(file, place));
}

function isBelow(file: string, folder: string): boolean {
  return folder.endsWith('/') && file.startsWith(folder);
}

function protocolNames({ protocolWords }: SourceGraph, rules: HouseRules): string[] {
  const refused = protocolWords.filter(
    ({ text, file }) => !Object.hasOwn(rules.protocolWords, text) && !mayNameProtocols(file, rules),
  );
  return refused.map(
    ({ text, file, line }) =>
      `${file}:${line} names ${text}: ask a trait of the protocol, or let its folder in qdl/protocols do it`,
  );
}

function foldersWithoutLayer({ files, sources }: SourceGraph, rules: HouseRules): string[] {
  const first = new Map<string, string>();
  const isSource = new Set(sources);
  for (const file of files) {
    const { top, folder } = placeOf(file);
    const layers = rules.layers[top];
    if (layers === undefined || (folder === ROOT && !isSource.has(file))) continue;
    if (layers.some((folders) => folders.includes(folder)) || first.has(`${top}/${folder}`))
      continue;
    first.set(`${top}/${folder}`, file);
  }
  return [...first.values()].map((file) => {
    const { top, folder } = placeOf(file);
    if (folder === ROOT) return `${file}:1 is in no folder: move it into a folder of ${top}`;
    return `${top}/${folder} has no layer (${file}:1): move its files into another folder, or give it a layer in LAYERS`;
  });
}

/** Exports by name that stand in more than one folder. */
function namesOfSeveralFolders(
  { exports }: Pick<SourceGraph, 'exports'>,
  rules: Pick<HouseRules, 'entries'>,
): Map<string, Export[]> {
  const byName = new Map<string, Map<string, Export>>();
  for (const each of exports) {
    if (each.isAgain && rules.entries.includes(each.file)) continue;
    const folders = byName.get(each.name) ?? new Map<string, Export>();
    const { top, folder } = placeOf(each.file);
    if (!folders.has(`${top}/${folder}`)) folders.set(`${top}/${folder}`, each);
    byName.set(each.name, folders);
  }
  const several = [...byName].filter(([, folders]) => folders.size > 1);
  return new Map(several.map(([name, folders]) => [name, [...folders.values()]]));
}

function doubleNames(house: SourceGraph, rules: HouseRules): string[] {
  return [...namesOfSeveralFolders(house, rules)]
    .filter(([name]) => !Object.hasOwn(rules.sameNames, name))
    .map(([name, places]) => {
      const where = places.map(({ file, line }) => `${file}:${line}`).join(', ');
      return `${name} is exported by ${places.length} folders (${where}): give each its own name, or keep one`;
    });
}

/** Direct files of each folder that is counted, the fullest first. */
export function filesOfFolders(
  { files }: Pick<SourceGraph, 'files'>,
  rules: HouseRules,
): [string, number][] {
  const counted = [...Object.keys(rules.layers), 'test', 'docs'];
  const counts = new Map<string, number>();
  for (const folder of files.map((file) => dirname(file))) {
    const isIn = (parent: string): boolean => `${folder}/`.startsWith(`${parent}/`);
    if (!counted.some(isIn) || rules.uncounted.some(isIn)) continue;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/**
 * Folders with many files, the fullest first, each with the reason if it has one: advice, not an
 * offence.
 */
export function fullFolders(house: SourceGraph, rules: HouseRules): string[] {
  return filesOfFolders(house, rules)
    .filter(([, count]) => count > rules.filesAdvised)
    .map(
      ([folder, count]) =>
        `${folder} holds ${count} files: ${rules.fullFolders[folder] ?? 'are they one subject?'}`,
    );
}

/** Verb files with their lines, the longest first. */
export function verbLines({ lines }: SourceGraph, rules: HouseRules): [string, number][] {
  return [...lines]
    .filter(([file]) => file.startsWith('loadgen-node/cli/') && !rules.notVerbs.includes(file))
    .sort((a, b) => b[1] - a[1]);
}

function longVerbs(house: SourceGraph, rules: HouseRules): string[] {
  const { verbLinesMax: max } = rules;
  return verbLines(house, rules)
    .filter(([file, lines]) => lines > max && !Object.hasOwn(rules.longVerbs, file))
    .map(
      ([file, lines]) =>
        `${file} has ${lines} lines, ${max} at most: flags, one call, print; move the rest to a lower folder`,
    );
}

function needlessExceptions(house: SourceGraph, rules: HouseRules): string[] {
  const names = namesOfSeveralFolders(house, rules);
  const folders = new Map(filesOfFolders(house, rules));
  const needless = (table: string, entries: object, isNeeded: (key: string) => boolean): string[] =>
    Object.keys(entries)
      .filter((key) => !isNeeded(key))
      .map((key) => `${table} still lists ${key}, which keeps the rule now: take the row out`);
  return [
    ...needless('SAME_NAMES', rules.sameNames, (name) => names.has(name)),
    ...needless('PROTOCOL_WORDS', rules.protocolWords, (word) =>
      house.protocolWords.some(({ text }) => text === word),
    ),
    ...needless('PROTOCOL_PLACES', rules.protocolPlaces, (place) =>
      house.protocolWords.some(
        ({ text, file }) =>
          !Object.hasOwn(rules.protocolWords, text) && (file === place || isBelow(file, place)),
      ),
    ),
    ...needless(
      'FULL_FOLDERS',
      rules.fullFolders,
      (folder) => (folders.get(folder) ?? 0) > rules.filesAdvised,
    ),
    ...needless(
      'LONG_VERBS',
      rules.longVerbs,
      (file) => (house.lines.get(file) ?? 0) > rules.verbLinesMax,
    ),
  ];
}
