import type { ConfEntry, ParsedConf } from './conf-grammar.ts';

/**
 * The entry that counts for a key, as LoadGen finds it in one file: `model.scenario.key`,
 * `*.scenario.key`, `model.*.key`, `*.*.key`, the first that is there. Mind the order: a line for
 * every model in one scenario wins over one for one model in every scenario.
 */
export function lookUp(
  conf: ParsedConf,
  model: string,
  scenario: string,
  key: string,
): ConfEntry | undefined {
  const { entries } = conf;
  return (
    entries.get(`${model}.${scenario}.${key}`) ??
    entries.get(`*.${scenario}.${key}`) ??
    entries.get(`${model}.*.${key}`) ??
    entries.get(`*.*.${key}`)
  );
}
