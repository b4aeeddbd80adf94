import { posix } from 'node:path';
import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { parseConf } from '../../../loadgen/settings/conf-grammar.ts';
import { loadgenScenario } from '../../rules/submission-model.ts';
import {
  brokenConfLines,
  roundsUpTo,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import {
  checkPresent,
  documentLines,
  needFolder,
  readDocument,
  readJsonObject,
  readToolText,
} from '../read/read-document.ts';
import { type Answer, type Facts, isStrict, type ResultSite } from '../read/sites.ts';

/** Rounds whose checkers require mlperf.conf; later LoadGens have it built in. */
const WITH_CONF: readonly SubmissionRound[] = ['v0.5', ...roundsUpTo('v4.1')];

/** Checks a result's settings, README, weights and code. */
export function checkMeasurements(site: ResultSite): void {
  const { layout, findings, round } = site;
  const file = layout.measurements(site.place);
  if (!needFolder(site, file)) return;
  findings.check('measurements', { ...site, file });
  const readme = posix.join(file, 'README.md');
  const lines = checkPresent(site, readme) ? documentLines(site, readme) : [];
  for (const [i, text] of lines.entries()) {
    findings.check('readmeLine', { file: readme, line: i + 1, text });
  }
  for (const name of WITH_CONF.includes(round) ? ['user.conf', 'mlperf.conf'] : ['user.conf']) {
    checkConf(site, posix.join(file, name));
  }
  const path = posix.join(file, weightsFile({ ...site, file }) ?? '');
  const weights = path === file ? undefined : readJsonObject(site, path);
  if (weights !== undefined) findings.check('weights', { ...site, file: path, weights });
  const isAsked = site.model?.isEqualIssue === true && round === 'v4.1' && isStrict(site);
  if (isAsked) checkEqualIssue(site, file);
}

function checkConf(site: ResultSite, path: string): void {
  const text = checkPresent(site, path) ? readDocument(site, path) : undefined;
  for (const { line, explanation } of parseConf(text ?? '').errors) {
    site.findings.add('conf-not-for-loadgen', path, `In line ${line}, ${explanation}.`, line);
  }
}

/** Name of the measurements file, found as by the official tools; undefined if missing. */
export function weightsFile({ file, layout, listing, place }: ResultSite): string | undefined {
  const { files } = listing.entries(file);
  if (layout.isFlat) return files.find((name) => name === 'measurements.json');
  const ofSystem = files.filter((name) => name.startsWith(place.system) && name.endsWith('.json'));
  return ofSystem.find((name) => name.endsWith(`_${place.scenario}.json`)) ?? ofSystem[0];
}

/**
 * The implementation in the measurements file's name, empty if it names none; undefined without the
 * file.
 */
export function implementationOf(site: ResultSite): string | undefined {
  const { system, scenario } = site.place;
  const name = weightsFile(site);
  const end = name?.endsWith(`_${scenario}.json`) ? `_${scenario}.json` : '.json';
  return name?.slice(`${system}_`.length, -end.length);
}

/** Looks for sample_concatenate_permutation like v4.1's checker. */
function checkEqualIssue(site: ResultSite, folder: string): void {
  const name = site.model?.name ?? '';
  const model = name.replace(/-99(?:\.9)?$/, '');
  const isAsked = site.model?.isEqualIssueInConf === true;
  const keys = [model, '*'].flatMap((of) =>
    [site.scenario, '*'].map((scenario) => `${of}.${scenario}.sample_concatenate_permutation`),
  );
  const areOn = ['mlperf.conf', 'user.conf'].map((conf) => {
    const path = posix.join(folder, conf);
    if (!site.listing.hasFile(path)) return false;
    const text = (isAsked ? readToolText(site, path) : readDocument(site, path)) ?? '';
    for (const line of isAsked ? brokenConfLines(text) : []) {
      const seen = `"${line.slice(0, 90)}" has more than one "=", or a key of other than three parts.`;
      site.findings.add('conf-unreadable', path, seen);
    }
    const { entries } = parseConf(text);
    return keys.some((key) => entries.get(key)?.text === '1');
  });
  if (areOn.includes(true)) return;
  const text = `Neither mlperf.conf nor user.conf sets ${model}.*.sample_concatenate_permutation = 1.`;
  site.findings.add(isAsked ? 'equal-issue-off' : 'equal-issue-unknown', folder, text);
}

interface ConfRecord {
  readonly key: string;
  readonly record: string;
  /** Factor from user.conf's unit to the record's. */
  readonly factor?: number;
  /**
   * Allowed ratio between the run's value and the requested value, in either direction; absent:
   * equal.
   */
  readonly times?: number;
  /** Absent: every scenario. */
  readonly of?: readonly Scenario[];
}

/** Keys of user.conf for requested settings, and LoadGen's records of the effective ones. */
const CONF_RECORDS: readonly ConfRecord[] = [
  { key: 'min_duration', record: 'effective_min_duration_ms' },
  { key: 'target_latency', record: 'effective_target_latency_ns', factor: 1e6, of: ['Server'] },
  { key: 'ttft_latency', record: 'requested_server_ttft_latency', factor: 1e6, of: ['Server'] },
  { key: 'tpot_latency', record: 'requested_server_tpot_latency', factor: 1e6, of: ['Server'] },
  // In many real submissions user.conf has the rate of a test, the last run: a few percent
  // difference is common.
  { key: 'target_qps', record: 'effective_target_qps', of: ['Server', 'Offline'], times: 2 },
];

/** Relative tolerance for a number that LoadGen has read and written. */
const SHARE_TOLERANCE = 1e-5;

/** Compares user.conf with the run's log. Its most specific line counts, as in LoadGen. */
export function userConfDiffers(site: Facts['read']): Answer {
  const { listing, layout, model, scenario } = site;
  const log = site.runs.get('performance');
  const file = posix.join(layout.measurements(site.place), 'user.conf');
  // The file's own check reports an unreadable one.
  if (log === undefined || !listing.hasFile(file) || site.measured !== scenario) return undefined;
  const { entries } = parseConf(readDocument(site, file) ?? '');
  const inConf = loadgenScenario(scenario);
  return CONF_RECORDS.map(({ key, record, factor = 1, times = 1, of: scenarios }) => {
    const entry = [model?.benchmark ?? '*', '*']
      .flatMap((of) => [`${of}.${inConf}.${key}`, `${of}.*.${key}`])
      .map((name) => entries.get(name))
      .find((one) => one !== undefined);
    const seen = log.number(record);
    const isCompared = scenarios?.includes(inConf) !== false;
    if (!isCompared || entry === undefined || seen === undefined) return undefined;
    const asked = Number(entry.text) * factor;
    const most = times * (1 + SHARE_TOLERANCE);
    if (asked <= seen * most && seen <= asked * most) return undefined;
    const text = `${key} is ${entry.text}, and ${record} in the log of the run ${seen}.`;
    return { file, line: entry.line, text };
  });
}
