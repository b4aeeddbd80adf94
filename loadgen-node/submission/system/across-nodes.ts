import { SYSTEM_FIELDS } from '../tree/system-fields.ts';
import { isTodo, todo } from './field-text.ts';

/** Fields of one node. */
interface NodeFields {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * The fields of several nodes as one description has them: once where all nodes agree, else with the nodes' names. A
 * field that is a number cannot say that.
 */
export function fieldsAcross(nodes: readonly NodeFields[]): Record<string, string> {
  const keys = [...new Set(nodes.flatMap(({ fields }) => Object.keys(fields)))];
  return Object.fromEntries(keys.map((key) => [key, valueAcross(key, nodes)]));
}

function valueAcross(key: string, nodes: readonly NodeFields[]): string {
  const names = new Map<string, string[]>();
  for (const { name, fields } of nodes) {
    const value = fields[key] ?? '';
    names.set(value, [...(names.get(value) ?? []), name]);
  }
  const values = [...names.keys()];
  if (values.length === 1) return values.join();
  const told = [...names]
    .map(([value, who]) => `${who.join(', ')}: ${value === '' ? 'unknown' : value}`)
    .join('; ');
  if (values.some(isTodo)) return todo(`the nodes differ (${told.replaceAll('TODO: ', '')})`);
  const isNumber = SYSTEM_FIELDS.some((field) => field.key === key && field.isNumber === true);
  if (!isNumber) return told;
  return todo(`one whole number, as the tools want it; the nodes differ (${told})`);
}
