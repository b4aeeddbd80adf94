import type { NetworkEntry } from '../config/config-types.ts';
import { distances, LOADGEN_END, linksOf } from './topology.ts';

/** A box of the diagram, in px; `x`, `y` is its upper left corner. */
export interface Box {
  readonly id: string;
  readonly kind: 'loadgen' | 'component' | 'sut';
  /** From top to bottom; the first is the title. */
  readonly lines: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A line between two boxes and what is written at it. */
export interface Wire {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly label: readonly string[];
  readonly labelX: number;
  readonly labelY: number;
  readonly labelWidth: number;
}

export interface DiagramLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly wires: readonly Wire[];
}

/** More SUT nodes with the same links than this share a box. */
const SINGLE_NODES_MAX = 4;

const FONT_PX = 14;
export const LINE_PX = 19;
const PADDING = 14;
const MARGIN = 28;
const ROW_GAP = 34;
const LABEL_GAP = 36;
/** Where along a wire its label stands: off the middle, where wires cross, and off the end with most wires. */
const LABEL_AT = 2 / 3;
const LINE_CHARACTERS_MAX = 30;

/** Describes the machines: texts below the titles of the boxes. */
export interface DiagramTexts {
  readonly loadgen: readonly string[];
  readonly sut: readonly string[];
}

/**
 * Places the machines in columns by their distance from the LoadGen node, SUT nodes last. Every text has room:
 * boxes are as wide as their longest line, columns as far apart as the widest label between them.
 */
export function layOut(network: NetworkEntry, texts: DiagramTexts): DiagramLayout {
  const groups = groupNodes(network);
  const columns = columnsOf(network, groups, texts);
  const wires = wiresBetween(network, groups);
  const rowGap = Math.max(ROW_GAP, ...columns.map((column) => neededGap(column, wires)));
  const heights = columns.map((column) => heightOf(column, rowGap));
  const height = Math.max(...heights) + 2 * MARGIN;
  const boxes: Box[] = [];
  let x = MARGIN;
  let gap = 0;
  for (const [i, column] of columns.entries()) {
    const width = Math.max(...column.map((box) => box.width));
    let y = (height - (heights[i] as number)) / 2;
    for (const box of column) {
      boxes.push({ ...box, x, y, width });
      y += box.height + rowGap;
    }
    gap = gapBehind(columns, i, wires);
    x += width + gap;
  }
  return {
    width: x - gap + MARGIN,
    height,
    boxes,
    wires: wires.map((wire) => drawn(wire, boxes, wires)),
  };
}

type Sized = Omit<Box, 'x' | 'y'>;

/** SUT nodes by the box that they stand in: a node of its own, or many with the same links. */
type Groups = ReadonlyMap<string, readonly string[]>;

function groupNodes(network: NetworkEntry): Groups {
  const links = linksOf(network);
  const kindOf = (node: string): string =>
    links
      .flatMap(({ from, to, media, rate, count }) =>
        from === node || to === node
          ? [`${from === node ? to : from} ${media} ${rate} ${count}`]
          : [],
      )
      .sort()
      .join('; ');
  const byKind = new Map<string, string[]>();
  for (const node of network.sut_nodes) {
    const kind = kindOf(node);
    byKind.set(kind, [...(byKind.get(kind) ?? []), node]);
  }
  const groups = new Map<string, readonly string[]>();
  for (const nodes of byKind.values()) {
    if (nodes.length > SINGLE_NODES_MAX) groups.set(nodes[0] as string, nodes);
    else for (const node of nodes) groups.set(node, [node]);
  }
  return groups;
}

function columnsOf(network: NetworkEntry, groups: Groups, texts: DiagramTexts): Sized[][] {
  const reached = distances(network);
  const components = network.components.map((component) => component.id);
  const last = 1 + Math.max(0, ...components.map((id) => reached.get(id) ?? 0));
  const columns: Sized[][] = Array.from({ length: last + 1 }, () => []);
  columns[0]?.push(sized(LOADGEN_END, 'loadgen', ['LoadGen node', ...texts.loadgen]));
  for (const { id, kind, name } of network.components) {
    columns[reached.get(id) ?? 1]?.push(
      sized(id, 'component', [id === kind ? id : `${kind} ${id}`, name]),
    );
  }
  for (const [first, nodes] of groups) {
    const title =
      nodes.length === 1
        ? `SUT node ${first}`
        : `${nodes.length} SUT nodes: ${first} … ${nodes.at(-1)}`;
    columns[last]?.push(sized(first, 'sut', [title, ...texts.sut]));
  }
  return columns.filter((column) => column.length > 0);
}

function sized(id: string, kind: Box['kind'], texts: readonly string[]): Sized {
  const lines = texts.flatMap((text) => broken(text));
  const height = lines.length * LINE_PX + 2 * PADDING;
  return { id, kind, lines, width: widthOf(lines) + 2 * PADDING, height };
}

/** A text in lines that are not too long. */
function broken(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < LINE_CHARACTERS_MAX) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

/** Room that lines take: an estimate that is wide enough for bold letters of common fonts. */
function widthOf(lines: readonly string[]): number {
  return Math.ceil(Math.max(...lines.map((line) => line.length)) * FONT_PX * 0.62);
}

function heightOf(column: readonly Sized[], rowGap: number): number {
  const boxes = column.reduce((total, { height }) => total + height, 0);
  return boxes + (column.length - 1) * rowGap;
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly label: readonly string[];
}

function wiresBetween(network: NetworkEntry, groups: Groups): Link[] {
  const inGroup = (end: string): boolean => !network.sut_nodes.includes(end) || groups.has(end);
  return linksOf(network)
    .filter(({ from, to }) => inGroup(from) && inGroup(to))
    .map(({ from, to, media, rate, count }) => {
      const nodes = groups.get(to) ?? groups.get(from) ?? [];
      const each = nodes.length > 1 ? ' each' : '';
      return {
        from,
        to,
        label: [...broken(media), `${count > 1 ? `${count} x ` : ''}${rate}${each}`],
      };
    });
}

/** Room for the widest label of the wires that lead from a column to later ones. */
function gapBehind(columns: readonly Sized[][], at: number, wires: readonly Link[]): number {
  const columnOf = (end: string): number =>
    columns.findIndex((column) => column.some(({ id }) => id === end));
  const own = wires.filter(({ from, to }) => {
    const ends = [columnOf(from), columnOf(to)];
    return Math.min(...ends) === at && Math.max(...ends) > at;
  });
  return Math.max(0, ...own.map(({ label }) => widthOf(label))) * 1.5 + 2 * LABEL_GAP;
}

/** Labels of wires to neighbouring boxes stand a third of the boxes' distance apart. */
function neededGap(column: readonly Sized[], wires: readonly Link[]): number {
  if (column.length < 2) return 0;
  const label = Math.max(...wires.map((wire) => wire.label.length)) * LINE_PX;
  return (label + 8) / (1 - LABEL_AT) - Math.min(...column.map(({ height }) => height));
}

function drawn({ from, to, label }: Link, boxes: readonly Box[], all: readonly Link[]): Wire {
  const a = boxes.find(({ id }) => id === from) as Box;
  const b = boxes.find(({ id }) => id === to) as Box;
  const [left, right] = a.x <= b.x ? [a, b] : [b, a];
  const isBeside = left.x < right.x;
  const wiresAt = (id: string): number =>
    all.filter((wire) => wire.from === id || wire.to === id).length;
  const at = isBeside ? (wiresAt(left.id) >= wiresAt(right.id) ? LABEL_AT : 1 - LABEL_AT) : 0.5;
  const x1 = left.x + (isBeside ? left.width : left.width / 2);
  const x2 = isBeside ? right.x : right.x + right.width / 2;
  const y1 = left.y + left.height / 2;
  const y2 = right.y + right.height / 2;
  return {
    x1,
    y1,
    x2,
    y2,
    label,
    labelX: x1 + (x2 - x1) * at,
    labelY: y1 + (y2 - y1) * at,
    labelWidth: widthOf(label) + 10,
  };
}
