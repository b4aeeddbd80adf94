import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { configFileError } from '../errors/mlperf-error.ts';

/** Deepest nesting of lists and maps: no file of ours has ten levels. */
const DEPTH_MAX = 100;

/**
 * Parses YAML in linear time; never throws. The library's own search for repeated keys (yaml 2.9)
 * compares each key of a map with all others.
 * @param path Used in positions only.
 */
export function parseYaml(path: string, text: string) {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false };
  const document = parseDocument(text, options);
  /** `path:line:column` of an offset. */
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const broken = document.errors.map(({ pos, code, message }) => ({
    offset: pos[0],
    // The library recursed until the stack was full.
    message: code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : message,
  }));
  const faults = broken.length > 0 ? broken : faultsOf(document.contents);
  const problems = faults.map(({ offset, message }) => `${placeOf(offset)}: ${message}`);
  // With problems the document is useless.
  return { document, problems, placeOf };
}

/** {@link parseYaml} that throws. @throws MlperfError `ERR_CONFIG_FILE` with the first problem. */
export function parseGoodYaml(path: string, text: string) {
  const yaml = parseYaml(path, text);
  const [problem] = yaml.problems;
  if (problem !== undefined) throw configFileError(problem);
  return yaml;
}

interface Fault {
  readonly offset: number;
  readonly message: string;
}

const TOO_DEEP = `lists and maps may be nested at most ${DEPTH_MAX} deep`;

/** Faults that the parser accepts: too deep nesting, repeated keys. */
function faultsOf(root: unknown): Fault[] {
  const faults: Fault[] = [];
  const waiting: { readonly node: unknown; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, depth } = next;
    if (!isMap(node) && !isSeq(node)) continue;
    if (depth >= DEPTH_MAX) return [{ offset: offsetOf(node), message: TOO_DEEP }];
    if (isMap(node)) faults.push(...repeatedKeys(node.items));
    for (const item of node.items) {
      if (!isMap(node)) waiting.push({ node: item, depth: depth + 1 });
      else {
        const { key, value } = item as { readonly key: unknown; readonly value: unknown };
        waiting.push({ node: key, depth: depth + 1 }, { node: value, depth: depth + 1 });
      }
    }
  }
  return faults.sort((a, b) => a.offset - b.offset);
}

function repeatedKeys(pairs: readonly { readonly key: unknown }[]): Fault[] {
  const seen = new Set<unknown>();
  return pairs.flatMap(({ key }) => {
    const name = isScalar(key) ? key.value : key;
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ offset: offsetOf(key), message: `the key "${String(name)}" stands twice` }];
  });
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}
