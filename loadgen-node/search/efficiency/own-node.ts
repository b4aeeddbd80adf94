import { resolveSettings, type SettingSources } from '../../../shared/config/resolve-settings.ts';
import { flagOf, type SettingTable } from '../../../shared/config/setting.ts';

// Flags of a SUT node that a verb starts on this machine, among those of its runs.

/** Settings of `longhaul sut` about a node's place and its observers: the verb decides those. */
const SUT_ONLY: readonly string[] = [
  'listen',
  'node',
  'check',
  'checkFormat',
  'progress',
  'healthListen',
  'metricsListen',
  'systemFacts',
];

/** Keys that both halves know by one meaning: what is set for the run holds for the SUT as well. */
const OF_BOTH: readonly string[] = ['benchmark', 'model', 'responseBytes', 'cacheDir'];

/**
 * Those settings of `longhaul sut` that a verb takes for its own node.
 * @param all Settings of `longhaul sut`.
 * @param ofRuns Settings of the verb's runs: their keys are the runs'.
 */
export function ownNodeSettings(all: SettingTable, ofRuns: SettingTable): SettingTable {
  return Object.fromEntries(
    Object.entries(all).filter(([key]) => !Object.hasOwn(ofRuns, key) && !SUT_ONLY.includes(key)),
  );
}

/**
 * Picks the flags of the node among those of the verb, as sources and as arguments of
 * `longhaul sut`. They are checked at once: a node that is started would report them to the
 * terminal only.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function ownNode(
  { flags, file }: SettingSources,
  all: SettingTable,
  ofRuns: SettingTable,
): OwnNode {
  const table = ownNodeSettings(all, ofRuns);
  const isOfNode = (key: string): boolean => Object.hasOwn(table, key) || OF_BOTH.includes(key);
  const own = Object.fromEntries(Object.entries(flags).filter(([key]) => isOfNode(key)));
  resolveSettings(all, { section: 'sut', file, flags: own });
  return { sources: { flags: own, file }, args: argsOf({ ...own, config: flags['config'] }) };
}

/**
 * A SUT node that a verb starts: where its settings come from, and its command line without
 * `longhaul sut`.
 */
export interface OwnNode {
  readonly sources: Pick<SettingSources, 'flags' | 'file'>;
  readonly args: readonly string[];
}

/** A flag without a value is its name alone. */
function argsOf(flags: Readonly<Record<string, string | boolean | undefined>>): string[] {
  return Object.entries(flags).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return value === true ? [flagOf(key)] : [flagOf(key), String(value)];
  });
}
