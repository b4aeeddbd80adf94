import type { Command } from 'commander';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { addJson, type VerbResult, wantsJson } from '../../../shared/base/process/json-output.ts';
import {
  addSettings,
  CONFIG_SECTIONS,
  createCommand,
  sourcesOf,
} from '../../../shared/config/command-line.ts';
import { inspectSettings, type ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../../shared/config/setting.ts';
import { printSettings } from '../../run/plan/run-record.ts';

/** Settings that were looked at. */
export interface InspectedSections extends VerbResult {
  /** What is wrong with them. */
  readonly problems: readonly string[];
  /** True: `--json` stands among the flags. */
  readonly isJson: boolean;
}

/**
 * Effective settings of verbs, and where each came from.
 * @param tables Settings of the verbs that have a section in the configuration file.
 * @param args Flags of the verbs.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a verb without settings in the file
 */
export async function inspectSections(
  tables: Readonly<Record<string, SettingTable>>,
  verbs: readonly string[],
  args: readonly string[],
): Promise<InspectedSections> {
  const problems: string[] = [];
  const texts: string[] = [];
  const json: Record<string, object> = {};
  let isJson = false;
  for (const section of verbs) {
    const parser = sectionParser(section, tables[section]);
    await parser.action(() => {}).parseAsync(args, { from: 'user' });
    isJson ||= wantsJson(parser);
    const inspected = inspectSettings(tables[section] ?? {}, sourcesOf(parser, section));
    texts.push(printSettings(section, inspected.settings));
    json[section] = inspected.settings.map(settingJson);
    problems.push(...inspected.problems);
  }
  return { text: texts.join(''), json, problems, isJson };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a verb without settings in the file */
function sectionParser(section: string, table: SettingTable | undefined): Command {
  if (table !== undefined) return addJson(addSettings(createCommand(section, ''), table));
  const known = CONFIG_SECTIONS.join(' or ');
  const message = `unknown verb "${section}"; it must be ${known}`;
  throw new MlperfError('ERR_CONFIG_INVALID', message);
}

/** The value as it would stand in a file. */
function settingJson({ key, raw, source }: ResolvedSetting): object {
  return { key, value: raw ?? null, source };
}
