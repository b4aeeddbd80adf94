import type { NetworkEntry } from '../config/config-schema.ts';
import type { Problems } from '../config/problems.ts';

/** The LoadGen node's end of a link. */
export const LOADGEN_END = 'loadgen';
/** Stands for each SUT node. */
const EVERY_SUT = 'sut';

/** The links of a network with `sut` written out. */
export function linksOf({ links, sut_nodes }: NetworkEntry): NetworkEntry['links'] {
  const ends = (end: string): readonly string[] => (end === EVERY_SUT ? sut_nodes : [end]);
  return links.flatMap((link) =>
    ends(link.from).flatMap((from) => ends(link.to).map((to) => ({ ...link, from, to }))),
  );
}

/** How many links each end is away from the LoadGen node; ends that it does not reach are absent. */
export function distances(network: NetworkEntry): Map<string, number> {
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

/** Ends have to be known, named once, and reached from the LoadGen node. */
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
