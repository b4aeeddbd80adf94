import { SCENARIOS } from '../../../shared/domain/scenario.ts';
import type { ConfLineNote, ParsedConf } from './conf-grammar.ts';
import { CONF_KEYS, UNREAD_KEYS } from './conf-keys.ts';
import type { LoadgenBehaviour } from './loadgen-behaviour.ts';

/** What LoadGen passes over in silence: keys that it does not know, or not from such a file. */
export function notesOnKeys(conf: ParsedConf, loadgen: LoadgenBehaviour): ConfLineNote[] {
  const notes: ConfLineNote[] = [];
  for (const [key, { line }] of conf.entries) {
    const explanation = noteOnKey(key, loadgen);
    if (explanation !== undefined) notes.push({ line, explanation });
  }
  return notes;
}

function noteOnKey(fullKey: string, loadgen: LoadgenBehaviour): string | undefined {
  // A model's name may hold dots: scenario and key are the last two parts.
  const parts = fullKey.split('.');
  const [scenario, key] = parts.slice(-2);
  if (parts.length < 3 || key === undefined || scenario === undefined) {
    return `"${fullKey}" sets nothing: a key has the form model.scenario.key, as *.Server.target_qps`;
  }
  if (scenario !== '*' && !(SCENARIOS as readonly string[]).includes(scenario)) {
    return `"${fullKey}" sets nothing: "${scenario}" is none of ${SCENARIOS.join(', ')}, *`;
  }
  if (UNREAD_KEYS.includes(key)) return undefined;
  const known = CONF_KEYS.filter((confKey) => confKey.key === key);
  if (known.length === 0) return `"${fullKey}" sets nothing: LoadGen has no key "${key}"`;
  if (known.some((confKey) => confKey.isOfRound) && loadgen.configFiles === 'built-in') {
    return `"${fullKey}" sets nothing: only the round's own mlperf.conf sets ${key}`;
  }
  if (known.some((confKey) => confKey.needsAccuracyCount) && !loadgen.knowsAccuracySampleCount) {
    return `"${fullKey}" sets nothing: LoadGen ${loadgen.version} does not read ${key}`;
  }
  return undefined;
}
