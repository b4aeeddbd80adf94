import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { parseDuration } from '../../shared/base/text.ts';
import { SCENARIOS, type Scenario } from '../../shared/domain/scenario.ts';
import { parseLabel } from '../observe/summary/run-labels.ts';
import { listRuns, runsText } from '../present/list-runs.ts';
import { searchRow } from '../search/results/kept-searches.ts';
import { verb } from './verb.ts';

interface RunsOptions {
  readonly label?: readonly (readonly [string, string])[];
  readonly benchmark?: string;
  readonly scenario?: Scenario;
  readonly valid?: boolean;
  readonly all?: boolean;
  readonly since?: number;
  readonly limit: number;
}

const LIMIT_DEFAULT = 50;

/** `longhaul runs`: the runs and searches below a folder, newest first. */
export const runsVerb = verb({
  takes: { '[folder]': 'folder with the output folders of runs (default: results)' },
  json: 'first',
  flags: (command) =>
    command
      .option('--label <key=value>', 'runs with this label; repeatable, all must fit', addLabel)
      .option('--benchmark <name>', 'runs of this benchmark')
      .option('--scenario <name>', `runs of this scenario: ${SCENARIOS.join(', ')}`, readScenario)
      .option('--valid', 'runs that are VALID')
      .option('--all', 'the runs of searches, too')
      .option('--since <when>', 'runs since a date (2026-11-23) or a time ago (24h, 7d)', readSince)
      .option('--limit <n>', 'the newest n of them', readLimit, LIMIT_DEFAULT),
  example: `
Examples:
  longhaul runs --label branch=main --valid --since 7d
  longhaul runs results/nightly --json --limit 1000

A search (find-peak, curve, ...) is one row: its runs are in its folder. Labels come from --label.

Exit codes: 0 listed, 2 there is no such folder, or a flag is wrong.`,
  action: ({ command }, folder: string = 'results') => {
    const { label = [], benchmark, scenario, valid = false, ...rest } = command.opts<RunsOptions>();
    const { since: sinceMs, limit, all = false } = rest;
    const wanted = { labels: label, benchmark, scenario, onlyValid: valid, sinceMs, limit, all };
    const list = listRuns(folder, wanted, searchRow);
    return { text: runsText(list), json: list };
  },
});

function addLabel(
  text: string,
  before: readonly (readonly [string, string])[] = [],
): readonly (readonly [string, string])[] {
  return [...before, parseLabel(text, '--label')];
}

function readScenario(text: string): Scenario {
  const plain = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, '');
  const scenario = SCENARIOS.find((name) => plain(name) === plain(text));
  if (scenario !== undefined) return scenario;
  throw configInvalid(`--scenario "${text}" must be one of: ${SCENARIOS.join(', ')}`);
}

/** In ms since 1970. */
function readSince(text: string): number {
  const days = /^(\d+)d$/.exec(text)?.[1];
  const agoNs = days === undefined ? parseDuration(text) : Number(days) * 86_400e9;
  const ms = agoNs === undefined ? Date.parse(text) : Date.now() - agoNs / 1e6;
  if (Number.isFinite(ms)) return ms;
  throw configInvalid(
    `--since "${text}" must be a date such as 2026-11-23 or 2026-11-23T08:00, or a time ago such as 24h or 7d`,
  );
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw configInvalid(`--limit "${text}" must be a whole number of 1 or more`);
}
