import { parse } from 'yaml';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { FIND_PEAK_SETTINGS } from '../../../loadgen-node/search/peak/find-peak-plan.ts';
import { addSettings, createCommand, settingsOf } from '../../../shared/config/command-line.ts';
import type { SettingTable } from '../../../shared/config/setting.ts';
import { SUT_OPTIONS, toSutSettings } from '../../../sut-node/settings/sut-settings.ts';
import { repositoryText } from '../../scenes/host/repository.ts';

/** Fields of a service that tests read; the schema checks all of them. */
export interface ComposeService {
  readonly image: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile: string;
    readonly target: string;
  };
  /** Absent where the image's own holds. */
  readonly command?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly privileged?: boolean;
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, { aliases?: readonly string[] }>>;
  readonly network_mode?: string;
  readonly working_dir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly cpuset?: string;
  readonly healthcheck?: { readonly test: readonly string[]; readonly start_period?: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

/** A compose file with its variables filled in. */
export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes?: Readonly<Record<string, object>>;
}

/** A variable as a compose file writes it: `${NAME:-default}`, `${NAME:?message}` or `${NAME}`. */
interface ComposeVariable {
  readonly name: string;
  readonly fallback: string | undefined;
  readonly message: string | undefined;
}

const VARIABLE = /\$\{(\w+)(?::-([^}]*)|:\?([^}]*))?\}/g;

/**
 * Reads a compose file as Compose does: merge keys, then variables. @param env Values of variables.
 */
export function readCompose(path: string, env: Readonly<Record<string, string>>): ComposeFile {
  const raw = parse(repositoryText(path), { merge: true }) as unknown;
  return filledIn(raw, env) as ComposeFile;
}

/** Every use of a variable in a text. */
export function variablesOf(text: string): ComposeVariable[] {
  return [...text.matchAll(VARIABLE)].map(([, name = '', fallback, message]) => ({
    name,
    fallback,
    message,
  }));
}

/** A mount of the short form. */
export function mountOf(volume: string): { source: string; target: string; isReadOnly: boolean } {
  const [source = '', target = '', mode] = volume.split(':');
  return { source, target, isReadOnly: mode === 'ro' };
}

function filledIn(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (_all, name: string, fallback?: string, message?: string) => {
      const text = env[name] ?? fallback;
      if (text === undefined) throw new Error(`${name} has no value: ${message ?? 'no default'}`);
      return text;
    });
  }
  if (Array.isArray(value)) return value.map((one) => filledIn(one, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledIn(one, env)]));
}

/** Section of the configuration file and settings, by verb. */
const TABLES: Readonly<Record<string, readonly [section: string, table: SettingTable]>> = {
  run: ['run', RUN_SETTINGS],
  'find-peak': ['run', FIND_PEAK_SETTINGS],
  sut: ['sut', SUT_OPTIONS],
};

/**
 * Settings of a command line and of the configuration file that it names, as the verb reads them.
 * @throws MlperfError for a flag, a key or a value that the verb does not take.
 */
export function settingsBy(verb: string, args: readonly string[]): Record<string, unknown> {
  const [section, table] = TABLES[verb] ?? [];
  if (section === undefined || table === undefined) throw new Error(`no verb "${verb}"`);
  const command = addSettings(createCommand(verb, ''), table);
  command.parse([...args], { from: 'user' });
  const { values } = settingsOf(command, section, table);
  // Refuses values that contradict each other, too.
  if (verb === 'sut') toSutSettings(values as Parameters<typeof toSutSettings>[0]);
  return { ...values };
}
