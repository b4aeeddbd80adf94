import { isMap, isNode, isScalar, isSeq, type Pair } from 'yaml';
import { parseYaml } from '../../../../shared/base/text/yaml-text.ts';

/** Keys and positions that lead to a value: `['results', 0, 'scenario']`. */
export type YamlPath = readonly (string | number)[];

/** A YAML file that knows where each of its values stands. */
export interface PlacedYaml {
  readonly value: unknown;
  /** What is wrong with the text itself, each with its place; the value is of no use then. */
  readonly problems: readonly string[];
  /** `file:line:column` of a value's key, or of the nearest thing around it that is there. */
  placeOf(path: YamlPath): string;
}

/** Parses YAML. Never throws. @param file Stands in places only. */
export function parsePlacedYaml(file: string, text: string): PlacedYaml {
  const { document, problems, placeOf: placeAt } = parseYaml(file, text);
  return {
    value: problems.length > 0 ? undefined : document.toJS(),
    problems,
    placeOf: (path) => placeAt(offsetOf(document.contents, path)),
  };
}

function offsetOf(root: unknown, path: YamlPath): number {
  let node = root;
  let offset = beginOf(root) ?? 0;
  for (const key of path) {
    const next = step(node, key);
    if (next === undefined) return offset;
    offset = next.offset ?? offset;
    node = next.node;
  }
  return offset;
}

function step(node: unknown, key: string | number): { node: unknown; offset?: number } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(
      (item: Pair) => isScalar(item.key) && String(item.key.value) === String(key),
    );
    if (pair === undefined) return undefined;
    return placed(pair.value, beginOf(pair.key));
  }
  if (isSeq(node) && typeof key === 'number') {
    const item = node.items[key];
    return item === undefined ? undefined : placed(item, beginOf(item));
  }
  return undefined;
}

function placed(node: unknown, offset: number | undefined): { node: unknown; offset?: number } {
  return offset === undefined ? { node } : { node, offset };
}

function beginOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
