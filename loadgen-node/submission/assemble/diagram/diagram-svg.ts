import { type Box, type DiagramLayout, LINE_PX, type Wire } from './diagram-layout.ts';

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

/** The diagram as SVG, readable on light and on dark ground; it brings its own ground. */
export function diagramSvg({ width, height, boxes, wires }: DiagramLayout, title: string): string {
  const size = `${Math.ceil(width)} ${Math.ceil(height)}`;
  const [w, h] = size.split(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" width="${w}" height="${h}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${w}" height="${h}"/>`,
    ...wires.map(lineOf),
    ...wires.map(labelOf),
    ...boxes.map(boxOf),
    '</svg>\n',
  ].join('\n');
}

function lineOf({ x1, y1, x2, y2 }: Wire): string {
  return `<line class="wire" x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}"/>`;
}

function labelOf({ label, labelX, labelY, labelWidth }: Wire): string {
  const height = label.length * LINE_PX + 4;
  const top = labelY - height / 2;
  const ground = `<rect class="paper" x="${px(labelX - labelWidth / 2)}" y="${px(top)}" width="${labelWidth}" height="${height}" rx="4"/>`;
  const texts = label.map((line, i) => textOf(line, labelX, top + LINE_PX * (i + 0.8), ''));
  return [ground, ...texts].join('\n');
}

function boxOf({ kind, lines, x, y, width, height }: Box): string {
  const rect = `<rect class="box ${kind}" x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" rx="8"/>`;
  const texts = lines.map((line, i) =>
    textOf(line, x + width / 2, y + 14 + LINE_PX * (i + 0.75), i === 0 ? ' class="title"' : ''),
  );
  return [rect, ...texts].join('\n');
}

function textOf(line: string, x: number, y: number, attributes: string): string {
  return `<text x="${px(x)}" y="${px(y)}" text-anchor="middle"${attributes}>${escaped(line)}</text>`;
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
