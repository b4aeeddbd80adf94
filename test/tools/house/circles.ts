/** Neighbours of each node; a node that only others name may be missing. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Makes a graph of arrows. */
export function graphOf(arrows: Iterable<readonly [from: string, to: string]>): Graph {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of arrows) {
    const next = graph.get(from) ?? new Set();
    graph.set(from, next.add(to));
  }
  return graph;
}

/**
 * Groups of nodes that reach each other: strongly connected components of more than one node, by
 * Tarjan's algorithm.
 * @returns Each sorted, the largest first.
 */
export function rings(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const found: string[][] = [];

  const lower = (node: string, to: number): void => {
    lowest.set(node, Math.min(lowest.get(node) ?? to, to));
  };
  const close = (node: string): void => {
    const ring = stack.splice(stack.indexOf(node));
    for (const member of ring) open.delete(member);
    if (ring.length > 1) found.push(ring.sort());
  };
  const visit = (node: string): void => {
    const index = order.size;
    order.set(node, index);
    lower(node, index);
    stack.push(node);
    open.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.has(next)) lower(node, lowest.get(next) as number); // visited: it has a number
    }
    if (lowest.get(node) === index) close(node);
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found.sort((a, b) => b.length - a.length);
}

/** The shortest way through a ring back to its start, which stands first and last. */
export function wayRound(graph: Graph, ring: readonly string[]): string[] {
  const ways = ring.map((start) => wayBack(graph, new Set(ring), start));
  return ways.reduce((shortest, way) => (way.length < shortest.length ? way : shortest));
}

/** Breadth first: the first way that comes back is the shortest. */
function wayBack(graph: Graph, ring: ReadonlySet<string>, start: string): string[] {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return [...wayTo(cameFrom, start, node), start];
      if (!ring.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  throw new Error(`${start} is in no circle`);
}

function wayTo(cameFrom: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const way = [end];
  // each was reached
  for (let node = end; node !== start; way.unshift(node)) node = cameFrom.get(node) as string;
  return way;
}
