import { posix } from 'node:path';
import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import { parseConf } from '../../../loadgen/settings/conf-grammar.ts';
import { brokenConfLines } from '../../rules/conf-lines.ts';
import { TODO_MARK } from '../../tree/system-fields.ts';
import { DRY_RUN_WORDS } from '../../tree/tree-layout.ts';
import type { CheckContext } from '../read/check-context.ts';
import { checkPresent } from '../read/check-folders.ts';
import { shortened } from '../read/description-values.ts';
import {
  documentLines,
  readDocument,
  readJsonObject,
  readToolText,
} from '../read/read-document.ts';
import { isStrict, type ResultSite } from '../read/result-site.ts';

/** Keys of the measurements file; all of them need a value. */
const KEYS = [
  'input_data_types',
  'retraining',
  'starting_weights_filename',
  'weight_data_types',
  'weight_transformations',
];

/** Models of v4.1 whose equal issue the round's own checker looks for, in these files only. */
const EQUAL_ISSUE_IN_CONF: readonly string[] = ['3d-unet-99', 'llama2-70b-99.9', 'mixtral-8x7b'];

/** Checks what lies beside a result: its settings, its README, its weights, its code. */
export function checkMeasurements(context: CheckContext, site: ResultSite): void {
  const { layout, listing, findings, round } = context;
  const folder = layout.measurements(site.place);
  if (!listing.hasFolder(folder)) {
    findings.add('missing-folder', folder, 'There is no such folder.');
    return;
  }
  const readme = posix.join(folder, 'README.md');
  if (checkPresent(context, readme)) checkDryRun(context, readme);
  const confs = round === 'v4.1' ? ['user.conf', 'mlperf.conf'] : ['user.conf'];
  for (const name of confs) {
    const path = posix.join(folder, name);
    if (checkPresent(context, path)) checkConf(context, path);
  }
  checkWeights(context, site, folder);
  checkCode(context, site);
  if (site.model?.isEqualIssue === true && round === 'v4.1' && isStrict(site)) {
    checkEqualIssue(context, site, folder);
  }
}

/** The mark of a tree of shortened runs stands in each README as well as in its root. */
function checkDryRun(context: CheckContext, path: string): void {
  documentLines(context, path).forEach((text, i) => {
    if (!text.startsWith(`> **${DRY_RUN_WORDS}`)) return;
    context.findings.add('dry-run-lengths', path, 'It is of a tree of shortened runs.', i + 1);
  });
}

function checkConf(context: CheckContext, path: string): void {
  const text = readDocument(context, path);
  if (text === undefined) return;
  for (const { line, explanation } of parseConf(text).errors) {
    context.findings.add('conf-not-for-loadgen', path, `In line ${line}, ${explanation}.`, line);
  }
}

function checkWeights(context: CheckContext, site: ResultSite, folder: string): void {
  const { findings } = context;
  const name = weightsFile(context, site, folder);
  if (name === undefined) return;
  const path = posix.join(folder, name);
  const weights = readJsonObject(context, path);
  if (weights === undefined) return;
  for (const key of KEYS) {
    const value = weights[key];
    if (!isTruthy(value)) {
      const text = value === undefined ? `${key} is missing.` : `${key} is empty.`;
      findings.add('measurements-field-missing', path, text);
    } else if (typeof value === 'string' && value.trim() === '') {
      findings.add('field-blank', path, `${key} is ${JSON.stringify(value.slice(0, 60))}.`);
    } else if (typeof value === 'string' && value.startsWith(TODO_MARK)) {
      findings.add('todo-left', path, `${key} is "${shortened(value, 160)}".`);
    }
  }
  if (isStrict(site)) tellRetraining(context, path, weights['retraining']);
}

function tellRetraining({ findings }: CheckContext, path: string, value: unknown): void {
  if (typeof value !== 'string' || !/^\s*yes\b/i.test(value)) return;
  findings.add('retraining-stated', path, `retraining is "${shortened(value, 160)}".`);
}

/** Name of the measurements file, as the official tools find it; undefined where there is none, which is told. */
function weightsFile(context: CheckContext, site: ResultSite, folder: string): string | undefined {
  const { layout, listing, findings } = context;
  const { system, scenario } = site.place;
  const names = listing.entries(folder).files.filter((name) => name.endsWith('.json'));
  const ofSystem = names.filter((name) => name.startsWith(system));
  const name = layout.isFlat
    ? names.find((one) => one === 'measurements.json')
    : (ofSystem.find((one) => one.endsWith(`_${scenario}.json`)) ?? ofSystem[0]);
  if (name === undefined) {
    const right = layout.isFlat
      ? 'measurements.json'
      : `${system}_<implementation>_${scenario}.json`;
    findings.add('measurements-file-missing', folder, `It has no ${right}.`);
  }
  return name;
}

function checkCode(context: CheckContext, site: ResultSite): void {
  const { layout, listing, findings } = context;
  const { division, submitter, modelFolder } = site;
  const code = layout.code(division, submitter);
  if (layout.isFlat) {
    if (!listing.leadsToFolder(code))
      findings.add('code-missing', code, 'There is no such folder.');
    return;
  }
  const path = posix.join(code, modelFolder);
  // A file of that name holds the name of the folder of another model.
  const named = listing.hasFile(path) ? readToolText(context, path)?.trim() : undefined;
  const folder = named === undefined ? path : posix.join(code, named);
  if (listing.leadsToFolder(folder)) return;
  const text =
    named === undefined ? 'There is no such folder.' : `It names ${folder}, which is not there.`;
  findings.add('code-missing', path, text);
}

/** Looks for sample_concatenate_permutation as the checker of v4.1 does. */
function checkEqualIssue(context: CheckContext, site: ResultSite, folder: string): void {
  const model = (site.model?.name ?? '').replace(/-99(?:\.9)?$/, '');
  const isAsked = EQUAL_ISSUE_IN_CONF.includes(site.model?.name ?? '');
  const areOn = ['mlperf.conf', 'user.conf'].map((name) => {
    const path = posix.join(folder, name);
    if (!context.listing.hasFile(path)) return false;
    const text = (isAsked ? readToolText(context, path) : readDocument(context, path)) ?? '';
    for (const line of isAsked ? brokenConfLines(text) : []) {
      const seen = `"${line.slice(0, 90)}" has more than one "=", or a key of other than three parts.`;
      context.findings.add('conf-unreadable', path, seen);
    }
    const { entries } = parseConf(text);
    return [model, '*'].some((of) =>
      [site.scenario, '*'].some(
        (scenario) => entries.get(`${of}.${scenario}.sample_concatenate_permutation`)?.text === '1',
      ),
    );
  });
  if (areOn.includes(true)) return;
  const text = `Neither mlperf.conf nor user.conf sets ${model}.*.sample_concatenate_permutation = 1.`;
  context.findings.add(isAsked ? 'equal-issue-off' : 'equal-issue-unknown', folder, text);
}
