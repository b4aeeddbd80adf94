import { at } from '../../../../shared/base/at.ts';
import type { NetworkEntry, Problems } from '../config/read-submission-config.ts';

/** A machine in the diagram; its first line is the title. */
interface Box {
  readonly id: string;
  readonly kind: 'loadgen' | 'component' | 'sut';
  readonly lines: readonly string[];
}

/** A line between two boxes, and its label. */
interface Wire {
  readonly from: string;
  readonly to: string;
  readonly label: readonly string[];
}

/** If more SUT nodes than this have the same links, they share a box. */
const SINGLE_NODES_MAX = 4;

// Pixels.
const FONT = 14;
const LINE = 19;
const PADDING = 14;
const MARGIN = 28;
const ROW_GAP = 34;
const LABEL_GAP = 36;
/**
 * Position of a label along its wire: off the middle, where wires cross, and away from the end with
 * most wires.
 */
const LABEL_AT = 2 / 3;
const LINE_CHARACTERS_MAX = 30;

/**
 * The machines of a network as SVG: boxes of equal size, in columns by distance from the LoadGen
 * node, SUT nodes last.
 * @param texts Texts below the machines' titles.
 */
export function diagramSvg(
  title: string,
  network: NetworkEntry,
  texts: { readonly loadgen: readonly string[]; readonly sut: readonly string[] },
): string {
  const groups = groupNodes(network);
  const columns = columnsOf(network, groups, texts);
  const wires = wiresOf(network, groups);
  const boxes = columns.flat();
  const rows = Math.max(...columns.map((column) => column.length));
  const boxWidth = Math.max(...boxes.map(({ lines }) => widthOf(lines))) + 2 * PADDING;
  const boxHeight = Math.max(...boxes.map(({ lines }) => lines.length)) * LINE + 2 * PADDING;
  const labelWidth = Math.max(...wires.map(({ label }) => widthOf(label))) + 10;
  const labelHeight = Math.max(...wires.map(({ label }) => label.length)) * LINE + 8;
  const columnStep = boxWidth + 1.5 * labelWidth + 2 * LABEL_GAP;
  // Labels of wires to neighbouring boxes are a third of the boxes' distance apart; two boxes may
  // be linked vertically.
  const rowStep = Math.max(boxHeight + ROW_GAP + labelHeight, labelHeight / (1 - LABEL_AT));
  const width = 2 * MARGIN + (columns.length - 1) * columnStep + boxWidth;
  const height = 2 * MARGIN + (rows - 1) * rowStep + boxHeight;
  const centres = new Map<string, readonly [x: number, y: number]>();
  for (const [i, column] of columns.entries()) {
    for (const [j, { id }] of column.entries()) {
      const y = height / 2 + (j - (column.length - 1) / 2) * rowStep;
      centres.set(id, [MARGIN + boxWidth / 2 + i * columnStep, y]);
    }
  }
  const drawn = wires.map((wire) => drawnWire(wire, wires, centres, boxWidth));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${px(width)} ${px(height)}" width="${px(width)}" height="${px(height)}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${px(width)}" height="${px(height)}"/>`,
    ...drawn.map(({ line }) => line),
    ...drawn.map(({ label, at }) =>
      block('paper', label, at, [widthOf(label) + 10, label.length * LINE + 4]),
    ),
    ...boxes.map(({ id, kind, lines }) => {
      const at = centres.get(id) ?? [0, 0];
      return block(`box ${kind}`, lines, at, [boxWidth, boxHeight]);
    }),
    '</svg>\n',
  ].join('\n');
}

/** SUT nodes by the first of those that share a box: a single node, or many with the same links. */
function groupNodes(network: NetworkEntry): ReadonlyMap<string, readonly string[]> {
  const links = linksOf(network);
  const kindOf = (node: string): string =>
    links
      .filter(({ from, to }) => from === node || to === node)
      .map(({ from, to, media, rate, count }) => [from === node ? to : from, media, rate, count])
      .sort()
      .join('; ');
  const byKind = new Map<string, string[]>();
  for (const node of network.sut_nodes) {
    byKind.set(kindOf(node), [...(byKind.get(kindOf(node)) ?? []), node]);
  }
  const groups = [...byKind.values()].flatMap((nodes) =>
    nodes.length > SINGLE_NODES_MAX ? [nodes] : nodes.map((node) => [node]),
  );
  return new Map(groups.map((nodes) => [at(nodes, 0), nodes]));
}

function columnsOf(
  network: NetworkEntry,
  groups: ReadonlyMap<string, readonly string[]>,
  texts: Parameters<typeof diagramSvg>[2],
): Box[][] {
  const reached = distances(network);
  const columns: Box[][] = [
    [{ id: LOADGEN_END, kind: 'loadgen', lines: wrapped(['LoadGen node', ...texts.loadgen]) }],
  ];
  for (const { id, kind, name } of network.components) {
    const lines = wrapped([id === kind ? id : `${kind} ${id}`, name]);
    const column = reached.get(id) ?? 1;
    columns[column] = [...(columns[column] ?? []), { id, kind: 'component', lines }];
  }
  const nodes = [...groups].map(([id, all]): Box => {
    const title =
      all.length === 1 ? `SUT node ${id}` : `${all.length} SUT nodes: ${id} … ${all.at(-1)}`;
    return { id, kind: 'sut', lines: wrapped([title, ...texts.sut]) };
  });
  return [...columns, nodes].filter((column) => column !== undefined);
}

/** Texts wrapped to short lines. */
function wrapped(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const lines: string[] = [];
    for (const word of text.split(/\s+/)) {
      const line = lines.at(-1);
      if (line !== undefined && line.length + word.length < LINE_CHARACTERS_MAX) {
        lines[lines.length - 1] = `${line} ${word}`;
      } else lines.push(word);
    }
    return lines;
  });
}

/** Estimated width of lines, enough for bold letters of common fonts. */
function widthOf(lines: readonly string[]): number {
  return Math.ceil(Math.max(...lines.map((line) => line.length)) * FONT * 0.62);
}

function wiresOf(network: NetworkEntry, groups: ReadonlyMap<string, readonly string[]>): Wire[] {
  const isDrawn = (end: string): boolean => !network.sut_nodes.includes(end) || groups.has(end);
  return linksOf(network)
    .filter(({ from, to }) => isDrawn(from) && isDrawn(to))
    .map(({ from, to, media, rate, count }) => {
      const nodes = groups.get(to) ?? groups.get(from) ?? [];
      const rates = `${count > 1 ? `${count} x ` : ''}${rate}${nodes.length > 1 ? ' each' : ''}`;
      return { from, to, label: [...wrapped([media]), rates] };
    });
}

/** A wire between two boxes, or vertical within a column; and the centre of its label. */
function drawnWire(
  { from, to, label }: Wire,
  all: readonly Wire[],
  centres: ReadonlyMap<string, readonly [number, number]>,
  boxWidth: number,
) {
  const placeOf = (id: string): readonly [number, number] => centres.get(id) ?? [0, 0];
  const countAt = (id: string): number =>
    all.filter((one) => one.from === id || one.to === id).length;
  const [left, right] = placeOf(from)[0] <= placeOf(to)[0] ? [from, to] : [to, from];
  const [[x1, y1], [x2, y2]] = [placeOf(left), placeOf(right)];
  const isDown = x1 === x2;
  const share = isDown ? 0.5 : countAt(left) >= countAt(right) ? LABEL_AT : 1 - LABEL_AT;
  // From the side of one box to that of the other.
  const [begin, end] = isDown ? [x1, x2] : [x1 + boxWidth / 2, x2 - boxWidth / 2];
  const line = `<line class="wire" x1="${px(begin)}" y1="${px(y1)}" x2="${px(end)}" y2="${px(y2)}"/>`;
  return { line, label, at: [begin + (end - begin) * share, y1 + (y2 - y1) * share] as const };
}

/** A rectangle with centred lines of text; the first line of a box is its title. */
function block(
  kind: string,
  lines: readonly string[],
  [x, y]: readonly [number, number],
  [width, height]: readonly [number, number],
): string {
  const top = y - (lines.length * LINE) / 2 + LINE * 0.75;
  return [
    `<rect class="${kind}" x="${px(x - width / 2)}" y="${px(y - height / 2)}" width="${px(width)}" height="${px(height)}" rx="6"/>`,
    ...lines.map(
      (line, i) =>
        `<text x="${px(x)}" y="${px(top + LINE * i)}" text-anchor="middle"${i === 0 && kind !== 'paper' ? ' class="title"' : ''}>${escaped(line)}</text>`,
    ),
  ].join('\n');
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Readable on light and dark pages; has its own background. */
const STYLE = `
  .paper { fill: #ffffff; }
  .box { fill: #f2f5f9; stroke: #44546a; stroke-width: 1.5; }
  .sut { fill: #e3f1e6; stroke: #2f6b3c; }
  .loadgen { fill: #e4ecfa; stroke: #2b4f91; }
  .wire { stroke: #44546a; stroke-width: 2; }
  text { fill: #16202c; font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
  .title { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14181d; }
    .box { fill: #232b35; stroke: #a9b7c8; }
    .sut { fill: #1d3324; stroke: #7cc08c; }
    .loadgen { fill: #1d2b45; stroke: #86a8e6; }
    .wire { stroke: #a9b7c8; }
    text { fill: #e8edf3; }
  }
`;

/** The LoadGen node's end of a link. */
export const LOADGEN_END = 'loadgen';
/** Stands for every SUT node. */
const EVERY_SUT = 'sut';

/** The links of a network with `sut` expanded. */
export function linksOf({ links, sut_nodes }: NetworkEntry): NetworkEntry['links'] {
  const ends = (end: string): readonly string[] => (end === EVERY_SUT ? sut_nodes : [end]);
  return links.flatMap((link) =>
    ends(link.from).flatMap((from) => ends(link.to).map((to) => ({ ...link, from, to }))),
  );
}

/** Number of links from the LoadGen node to each end; unreachable ends are absent. */
function distances(network: NetworkEntry): Map<string, number> {
  const links = linksOf(network);
  const result = new Map([[LOADGEN_END, 0]]);
  for (const [end, distance] of result) {
    for (const { from, to } of links) {
      const other = from === end ? to : to === end ? from : undefined;
      if (other !== undefined && !result.has(other)) result.set(other, distance + 1);
    }
  }
  return result;
}

/** Checks that ends are known, named once, and reachable from the LoadGen node. */
export function checkNetwork(network: NetworkEntry, problems: Problems): void {
  const components = network.components.map(({ id }) => id);
  const names = [LOADGEN_END, EVERY_SUT, ...components, ...network.sut_nodes];
  const twice = names.filter((name, i) => names.indexOf(name) !== i);
  if (twice.length > 0) {
    problems.error(`${[...new Set(twice)].join(', ')}: a name of the network means one thing`);
  }
  let isKnown = true;
  for (const [i, link] of network.links.entries()) {
    for (const end of ['from', 'to'] as const) {
      if (names.includes(link[end])) continue;
      isKnown = false;
      problems
        .at('links', i, end)
        .error(`"${link[end]}" is no end of a link; there is: ${names.join(', ')}`);
    }
  }
  if (!isKnown) return;
  const reached = distances(network);
  const lost = [...components, ...network.sut_nodes].filter((end) => !reached.has(end));
  if (lost.length > 0) {
    problems.at('links').error(`no link leads from ${LOADGEN_END} to ${lost.join(', ')}`);
  }
}
