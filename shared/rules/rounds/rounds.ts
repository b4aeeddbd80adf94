import { readFileSync } from 'node:fs';
import { dataFile } from '../../base/files/package-files.ts';

/** Rounds whose values this project holds, the oldest first: `<round>.conf` beside this file. */
// biome-ignore format: one line shows the order.
export const KNOWN_ROUNDS = [
  'v0.5', 'v2.1', 'v3.0', 'v3.1', 'v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0', 'v6.1',
] as const;

/** One of {@link KNOWN_ROUNDS}: its logs and submissions can be judged. */
export type KnownRound = (typeof KNOWN_ROUNDS)[number];

/** Rounds that can be run, because longhaul's engine follows their LoadGen. */
export const ROUNDS = [
  'v0.5',
  'v4.1',
  'v5.0',
  'v5.1',
  'v6.0',
  'v6.1',
] as const satisfies readonly KnownRound[];

/** One of {@link ROUNDS}. */
export type Round = (typeof ROUNDS)[number];

/** True for a round that can be run, and not only judged. */
export function isRunnable(round: KnownRound): round is Round {
  return (ROUNDS as readonly string[]).includes(round);
}

/** By round, why a round that can only be judged cannot be run; for settings with a round. */
export const ONLY_JUDGED: Readonly<Record<string, string>> = Object.fromEntries(
  KNOWN_ROUNDS.filter((round) => !isRunnable(round)).map((round) => [
    round,
    `${round} can be judged (submission check) but not run: longhaul's engine follows LoadGen from v4.1 on`,
  ]),
);

/**
 * True where a round has a Network division: all but v0.5, which has two divisions, closed and
 * open. longhaul holds its runs over a network to the rules of the division in v4.1. Rule: paper of
 * the round, section 5.1.1.
 */
export function hasNetworkDivision(round: string): boolean {
  return round !== 'v0.5';
}

/**
 * `network division`; for a run of v0.5 by the rules of that division, words that say that its
 * round has no such division.
 */
export function divisionInWords(round: string, division: string): string {
  if (division === 'network' && !hasNetworkDivision(round)) {
    return `over a network, which ${round} has no division for`;
  }
  return `${division} division`;
}

/** The round whose rules bind by default. */
export const DEFAULT_ROUND: Round = 'v4.1';

/**
 * The round's mlperf.conf: seeds, seeds of TEST05, and per benchmark the sample counts, bounds and
 * percentiles. It is a text, because a JavaScript number would round 64-bit seeds, and messages
 * name the line of a value.
 */
export function mlperfConfOf(round: KnownRound): string {
  return (
    `# mlperf.conf of MLPerf Inference ${round}: its keys and values, written by longhaul.\n` +
    '# The key has the form model.scenario.key; "*" stands for every model or scenario.\n' +
    '# Times are in ms, percentiles in percent.\n' +
    linesOf(round)
  );
}

/** Texts of the files by round: each is read once, because every benchmark asks for its values. */
const LINES = new Map<string, string>();

/**
 * The lines of a round's file without its comments. A comment `# based on <round>` stands for all
 * lines of that round: the file then has only the lines whose value differs.
 */
function linesOf(round: string): string {
  const known = LINES.get(round);
  if (known !== undefined) return known;
  const text = readFileSync(dataFile(`shared/rules/rounds/${round}.conf`), 'utf8');
  const own = text.replace(/^#.*\n/gm, '');
  const base = /^# based on (v[\d.]+\d)/m.exec(text)?.[1];
  const byKey = new Map(own.split('\n').map((line) => [keyOf(line), line]));
  const merged = base === undefined ? [] : linesOf(base).split('\n');
  const all =
    base === undefined ? own : merged.map((line) => byKey.get(keyOf(line)) ?? line).join('\n');
  LINES.set(round, all);
  return all;
}

function keyOf(line: string): string {
  return line.replace(/ *=.*/, '');
}

/**
 * A number in a round's mlperf.conf, in the file's unit (times in ms, percentiles in percent);
 * undefined where the file lacks the key.
 * @param key As the file has it: `resnet50.Server.target_latency`.
 */
export function numberOfRound(round: KnownRound, key: string): number | undefined {
  const line = linesOf(round)
    .split('\n')
    .find((candidate) => keyOf(candidate) === key);
  return line === undefined ? undefined : Number(line.slice(line.indexOf('=') + 1));
}
