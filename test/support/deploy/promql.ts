/** What a PromQL expression asks for. */
export interface AskedFor {
  /** Names of metrics, without those of functions and operators. */
  readonly metrics: ReadonlySet<string>;
  /** Labels of matchers and of `by`, `on`, ... */
  readonly labels: ReadonlySet<string>;
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const MATCHERS = /\{([^}]*)\}/g;
const WORDS = new Set([
  ...['and', 'or', 'unless', 'bool', 'offset', 'by', 'without', 'on', 'ignoring'],
  ...['group_left', 'group_right', 'inf', 'nan'],
]);

/**
 * Takes an expression apart as far as names need it: not a parser, which is promtool (test/deploy). A name in front of a
 * parenthesis is a function's.
 */
export function askedFor(expression: string): AskedFor {
  const labels = new Set<string>();
  const without = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(GROUPING, (_all, names: string) => {
      for (const name of names.split(',')) if (name.trim() !== '') labels.add(name.trim());
      return ' ';
    })
    .replaceAll(MATCHERS, (_all, matchers: string) => {
      for (const [, name = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) labels.add(name);
      return ' ';
    })
    .replaceAll(/\[[^\]]*\]/g, ' ');
  const names = [...without.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*(?!\w)(\s*\()?/g)];
  const metrics = names
    .filter(([, isCalled]) => isCalled === undefined)
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name.toLowerCase()) && !/^e\d*$/.test(name));
  return { metrics: new Set(metrics), labels };
}
