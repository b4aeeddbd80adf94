/*
 * Goal: whatever the topology, every box and label of the diagram has room and stands in the
 * picture. Method: pictures of several networks; their rectangles are compared with each other.
 */
import { expect, it } from 'vitest';
import type { NetworkEntry } from '../../../../../../loadgen-node/submission/assemble/config/read-submission-config.ts';
import { diagramSvg } from '../../../../../../loadgen-node/submission/assemble/plan/network-diagram.ts';

const link = (from: string, to: string, media = 'copper (DAC)', count = 1) => ({
  from,
  to,
  media,
  rate: '100G',
  count,
});
const component = (id: string) => ({ id, kind: 'switch' as const, name: `A switch, ${id}` });

const NETWORKS: readonly (readonly [string, NetworkEntry, number])[] = [
  ['point to point', { sut_nodes: ['a'], components: [], links: [link('loadgen', 'sut')] }, 2],
  [
    'one switch and four nodes',
    {
      sut_nodes: ['a', 'b', 'c', 'd'],
      components: [component('s')],
      links: [
        link('loadgen', 's', 'optical fibre, multi-mode, of a very long name', 2),
        link('s', 'sut'),
      ],
    },
    6,
  ],
  [
    'two switches that cross',
    {
      sut_nodes: ['a', 'b'],
      components: [component('s'), component('t')],
      links: [link('loadgen', 's'), link('loadgen', 't'), link('s', 'sut'), link('t', 'sut')],
    },
    5,
  ],
  [
    'two switches that are linked with each other',
    {
      sut_nodes: ['a'],
      components: [component('s'), component('t')],
      links: [
        link('loadgen', 's'),
        link('loadgen', 't'),
        link('s', 't', 'fibre', 2),
        link('t', 'sut'),
      ],
    },
    4,
  ],
  [
    'sixteen nodes, which share a box',
    {
      sut_nodes: Array.from({ length: 16 }, (_, i) => `sut-${i}`),
      components: [component('s')],
      links: [link('loadgen', 's'), link('s', 'sut')],
    },
    3,
  ],
];

it.each(NETWORKS)('draws %s without overlaps', (_case, network, boxCount) => {
  const texts = {
    loadgen: ['LoadGen, QSL, QDL'],
    sut: ['1 x A card of a vendor with a long name'],
  };
  const svg = diagramSvg('a', network, texts);
  expect(svg.match(/class="box/g)).toHaveLength(boxCount);
  const sizes = /x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx/g;
  const areas = [...svg.matchAll(sizes)].map((area) => area.slice(1).map(Number));
  expect(areas.length).toBe(boxCount + (svg.match(/<line/g) ?? []).length);
  const [width = 0, height = 0] = (/viewBox="0 0 (\S+) ([^"]+)"/.exec(svg) ?? [])
    .slice(1)
    .map(Number);
  for (const [i, [x = 0, y = 0, w = 0, h = 0]] of areas.entries()) {
    expect(x >= 0 && y >= 0 && x + w <= width && y + h <= height).toBe(true);
    for (const [x2 = 0, y2 = 0, w2 = 0, h2 = 0] of areas.slice(i + 1)) {
      expect(x + w <= x2 || x2 + w2 <= x || y + h <= y2 || y2 + h2 <= y).toBe(true);
    }
  }
});

it('escapes texts and has colours for light and dark', () => {
  const network: NetworkEntry = {
    sut_nodes: ['a'],
    components: [],
    links: [link('loadgen', 'a', '<fibre> & more')],
  };
  const svg = diagramSvg('A & B', network, { loadgen: [], sut: [] });
  expect(svg).toContain('&lt;fibre&gt; &amp; more');
  expect(svg).toContain('<title>A &amp; B</title>');
  expect(svg).toContain('prefers-color-scheme: dark');
});
