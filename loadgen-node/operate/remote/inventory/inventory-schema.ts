import { z } from 'zod';
import type { SettingTable } from '../../../../shared/config/setting.ts';
import {
  INVENTORY_KEYS,
  LOADGEN_KEYS,
  NODE_KEYS,
  OWN_RUN_KEYS,
  OWN_SUT_KEYS,
  without,
} from './inventory-tables.ts';

/** JSON Schema (draft 2020-12) of an inventory, for editors. */
export function inventoryJsonSchema(tables: {
  readonly run: SettingTable;
  readonly sut: SettingTable;
}): object {
  const sut = mapSchema(without(tables.sut, OWN_SUT_KEYS), {}, false);
  const run = mapSchema(without(tables.run, OWN_RUN_KEYS), {}, false);
  const loadgen = mapSchema(LOADGEN_KEYS, {});
  const node = mapSchema(NODE_KEYS, { settings: { $ref: '#/$defs/sutSettings' } });
  const nested = {
    loadgen,
    sut: { type: 'array', minItems: 1, items: node },
    sutSettings: { $ref: '#/$defs/sutSettings' },
    run,
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'longhaul inventory: hosts of a measuring network',
    ...mapSchema(INVENTORY_KEYS, nested),
    $defs: { sutSettings: sut },
  };
}

function mapSchema(
  table: SettingTable,
  nested: Readonly<Record<string, object>>,
  hasRequired = true,
): object {
  const properties = Object.entries(table).map(([key, { help, schema, fallback }]) => {
    const { $schema: _, ...own } = z.toJSONSchema(schema, { io: 'input' });
    const described = { description: help, ...(nested[key] ?? own) };
    return [key, fallback === undefined ? described : { ...described, default: fallback }];
  });
  const required = Object.keys(table).filter((key) => table[key]?.isRequired === true);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
    ...(hasRequired && required.length > 0 ? { required } : {}),
  };
}
