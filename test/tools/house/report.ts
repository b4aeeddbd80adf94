import {
  checkHouse,
  circlesOfFolders,
  filesOfFolders,
  fullFolders,
  KINDS,
  type Offence,
  verbLines,
} from './checks.ts';
import { graphOf, rings } from './circles.ts';
import type { HouseRules } from './rules.ts';
import { readSources, type SourceGraph } from './source-graph.ts';

export interface HouseReport {
  readonly text: string;
  readonly offences: readonly Offence[];
}

/** Checks the project in a folder: a line for each offence and one for how many there are. */
export function reportHouse(root: string, rules: HouseRules): HouseReport {
  const house = readSources(root, Object.keys(rules.packages), rules.protocols);
  const offences = checkHouse(house, rules);
  const lines = [
    ...fullFolders(house, rules).map((text) => `note: ${text}\n`),
    ...offences.map(({ kind, text }) => `${kind}: ${text}\n`),
  ];
  const end =
    offences.length === 0
      ? `imports and folders are in order: ${house.sources.length} files, ${house.imports.length} imports\n`
      : `${offences.length} offences; npm run check:house -- --summary counts them\n`;
  return { text: [...lines, end].join(''), offences };
}

/** Figures of the same check, for a comparison of two versions. */
export function summarizeHouse(root: string, rules: HouseRules): string {
  const house = readSources(root, Object.keys(rules.packages), rules.protocols);
  const offences = checkHouse(house, rules);
  const rows: (readonly [string, string | number])[] = KINDS.map((kind) => [
    kind,
    offences.filter((each) => each.kind === kind).length,
  ]);
  const verbs = verbLines(house, rules);
  const long = verbs.filter(([, lines]) => lines > rules.verbLinesMax);
  rows.push(
    ['files and imports', `${house.sources.length}, ${house.imports.length}`],
    ['files in circles', sum(rings(fileGraph(house)).map((ring) => ring.length))],
    ['circles of folders by depth', circlesByDepth(house)],
    ['folders in circles, each by itself', foldersInCircles(house)],
    ['largest folders', named(filesOfFolders(house, rules).slice(0, 3))],
    [
      `verb files over ${rules.verbLinesMax} lines`,
      `${long.length} of ${verbs.length}; longest ${named(verbs.slice(0, 3)) || 'none'}`,
    ],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

function named(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([name, count]) => `${name} ${count}`).join(', ');
}

function fileGraph({ imports }: SourceGraph): ReturnType<typeof graphOf> {
  return graphOf(imports.map(({ from, to }) => [from, to]));
}

function circlesByDepth(house: SourceGraph): string {
  const byDepth = new Map<number, number[]>();
  for (const { ring } of circlesOfFolders(house)) {
    const depth = Math.max(...ring.map((folder) => folder.split('/').length));
    byDepth.set(depth, [...(byDepth.get(depth) ?? []), ring.length]);
  }
  const texts = [...byDepth].map(([depth, sizes]) => `${depth}: ${sizes.join(' + ')} folders`);
  return texts.join('; ') || 'none';
}

/**
 * Folders by their direct files alone, whatever their depth: how much of the tree cannot be read
 * from the bottom.
 */
function foldersInCircles({ imports, sources }: SourceGraph): string {
  const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));
  const arrows = imports
    .map(({ from, to }) => [folderOf(from), folderOf(to)] as const)
    .filter(([from, to]) => from !== to);
  const inCircles = sum(rings(graphOf(arrows)).map((ring) => ring.length));
  return `${inCircles} of ${new Set(sources.map(folderOf)).size}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
