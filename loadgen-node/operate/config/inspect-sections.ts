import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import {
  addJson,
  addSettings,
  CONFIG_SECTIONS,
  createCommand,
  sourcesOf,
  wantsJson,
} from '../../../shared/config/command-line.ts';
import { inspectSettings } from '../../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../../shared/config/setting.ts';
import { printSettings } from '../../run/plan/run-record.ts';

/**
 * Effective settings of verbs, and their sources.
 * @param tables Settings of verbs with a section in the configuration file.
 * @param args Flags of the verbs.
 * @returns Text and JSON for the terminal, problems of the settings, and whether `--json` is
 *   among the flags.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a verb without a section
 */
export async function inspectSections(
  tables: Readonly<Record<string, SettingTable>>,
  verbs: readonly string[],
  args: readonly string[],
) {
  const problems: string[] = [];
  const texts: string[] = [];
  const json: Record<string, object> = {};
  let isJson = false;
  for (const section of verbs) {
    const table = tables[section];
    if (table === undefined) {
      const known = CONFIG_SECTIONS.join(' or ');
      throw configInvalid(`unknown verb "${section}"; it must be ${known}`);
    }
    const parser = addJson(addSettings(createCommand(section, ''), table));
    await parser.action(() => {}).parseAsync(args, { from: 'user' });
    isJson ||= wantsJson(parser);
    const inspected = inspectSettings(table, sourcesOf(parser, section));
    texts.push(printSettings(section, inspected.settings));
    json[section] = inspected.settings.map(({ key, raw, source }) => ({
      key,
      value: raw ?? null,
      source,
    }));
    problems.push(...inspected.problems);
  }
  return { text: texts.join(''), json, problems, isJson };
}

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
    const { $schema: _, ...own } = z.toJSONSchema(setting.schema, { io: 'input' });
    const { readsAsFlag, isList, words } = setting;
    const scalar = { type: ['string', 'number'] };
    const isAddress = readsAsFlag === true && isList !== true && words === undefined;
    const listed = isList === true ? { anyOf: [own, scalar] } : own;
    const schema = isAddress ? { ...own, ...scalar } : listed;
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
