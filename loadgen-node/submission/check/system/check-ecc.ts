import { ECC_TEXTS } from '../../tree/system-fields.ts';
import type { CheckContext } from '../read/check-context.ts';
import type { JsonObject } from '../read/description-values.ts';
import { countOf, textOf } from '../read/description-values.ts';

/** What may stand between "ECC" and its state: "ECC enabled", "ECC: on", "ECC is off". */
const BETWEEN = '(?:\\s*[:=(]\\s*|\\s+(?:is\\s+)?)';
const OFF = new RegExp(
  `\\bnon-?\\s?ECC\\b|\\b(?:no|without)\\s+ECC\\b|\\bECC${BETWEEN}(?:disabled|off|none|no)\\b`,
  'i',
);
const ON = new RegExp(`\\bECC${BETWEEN}(?:enabled|on|active|yes)\\b`, 'i');

/** Memories of a datacenter system say that their ECC is on. */
export function checkEcc({ findings }: CheckContext, path: string, description: JsonObject): void {
  const keys = ['host_memory_configuration'];
  if (hasAcceleratorMemory(description)) keys.push('accelerator_memory_configuration');
  for (const key of keys) {
    const value = textOf(description[key]);
    // What is missing, empty or still to be filled in is told by rules of its own.
    if (value.trim() === '' || value.startsWith('TODO')) continue;
    if (OFF.test(value)) findings.add('ecc-off', path, `${key} is "${value}".`);
    else if (!ON.test(value)) {
      findings.add('ecc-not-stated', path, `${key} is "${value}", without "${ECC_TEXTS.on}".`);
    }
  }
}

function hasAcceleratorMemory(description: JsonObject): boolean {
  const count = countOf(description['accelerators_per_node']) ?? 0;
  const memory = textOf(description['accelerator_memory_configuration']);
  return count > 0 && !/^\s*(?:n\/a|none|-)?\s*$/i.test(memory);
}
