import { z } from 'zod';
import type { SettingTable } from '../../../shared/config/setting.ts';

/** JSON Schema (draft 2020-12) of a configuration file with these sections, for editors. */
export function configJsonSchema(sections: Readonly<Record<string, SettingTable>>): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'longhaul configuration file',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(sections).map(([name, table]) => [name, sectionSchema(name, table)]),
    ),
  };
}

function sectionSchema(name: string, table: SettingTable): object {
  const properties = Object.entries(table).map(([key, setting]) => {
    const { $schema: _, ...schema } = z.toJSONSchema(setting.schema, { io: 'input' });
    const fallback = setting.fallback === undefined ? {} : { default: setting.fallback };
    return [key, { description: setting.help, ...schema, ...fallback }];
  });
  return {
    description: `Settings of "longhaul ${name}".`,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}
