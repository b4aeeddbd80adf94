/** Names of settings whose value is secret: an authorization token, not the tokens of a model. */
const SECRET_NAME = /token(file)?$|secret|password|credential/i;

/**
 * Settings by name, as text, for Describe and for the audit. Rule: inference_rules v4.1, Network
 * division, "SUT parameters and configuration must be uniquely and specifically named". Objects and
 * lists of objects become `name.field`; secrets are only marked as set.
 */
export function settingsAsText(settings: object): Record<string, string> {
  const entries = Object.entries(settings).flatMap(([name, value]) => entriesOf(name, value));
  return Object.fromEntries(entries);
}

function entriesOf(name: string, value: unknown): [string, string][] {
  if (SECRET_NAME.test(name)) return [[name, value === undefined ? '' : '(set)']];
  const isList = Array.isArray(value) && value.every((one) => typeof one !== 'object');
  if (isList) return [[name, value.join(',')]];
  if (value instanceof Uint8Array) return [[name, `(${value.length} bytes)`]];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([field, inner]) => entriesOf(`${name}.${field}`, inner));
  }
  return [[name, String(value ?? '')]];
}
