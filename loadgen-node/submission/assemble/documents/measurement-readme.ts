import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { modelOf, softwareOf } from '../../../../shared/evidence/server-evidence.ts';
import { recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import type { NetworkAudit } from '../../../observe/network-audit.ts';
import { flagText } from '../../../run/plan/flag-text.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import { DRY_RUN_WORDS } from '../../tree/tree-layout.ts';
import { isServer, nodesStateBatching, saidBatching } from '../plan/plan-submission.ts';
import type { PlannedResult } from '../plan/read-results.ts';
import type { SubmittedRun } from '../plan/read-run.ts';
import type { PlannedImplementation } from '../plan/read-system.ts';
import {
  codeBlock,
  document,
  fiveFiguresIn,
  performanceRows,
  performanceRowsV05,
  table,
} from './markdown.ts';

/** A result and its place in the tree. */
interface ReadmeFacts {
  readonly result: PlannedResult;
  readonly division: SubmissionDivision;
  readonly round: SubmissionRound;
  readonly isDryRun: boolean;
  /** Paths relative to the README: code folder, documentation folder. */
  readonly code: string;
  readonly documentation: string;
}

/**
 * README.md of a result: what was measured, and the full commands to repeat it. Source:
 * submission_rules, "Source code requirements for inference inspection".
 */
export function measurementReadme(facts: ReadmeFacts): string {
  const { result, division, round } = facts;
  const { entry, runs, model } = result;
  return document(
    `# ${entry.model}, ${entry.scenario}, on ${entry.system} (division ${division}, round ${round})`,
    marksOf(result, facts.isDryRun)
      .map((mark) => `> **${mark}**\n`)
      .join('>\n'),
    inferredText(result),
    '## Result',
    table(
      ['', ''],
      [
        ...(round === 'v0.5'
          ? performanceRowsV05([runs.performance, ...runs.others], entry.scenario)
          : performanceRows(runs.performance, entry.inferred_from ?? entry.scenario, model)),
        ['Verdict of LoadGen', verdictsOf([runs.performance, ...runs.others])],
        ...runs.accuracyLines.map(accuracyRow),
      ],
    ),
    'Numbers have five significant figures, a tie goes to the even digit. The logs have all digits.',
    '## Run commands',
    runText(result),
    isServer(result) ? `## Batching\n\n${batchingText(result)}` : '',
    '## Where to read on',
    [
      `* Code, weights and how they were made: [${facts.code}](${facts.code}/README.md)`,
      '* Settings of LoadGen: [user.conf](user.conf)',
      `* Network, bandwidth, software, evidence of the runs: [${facts.documentation}](${facts.documentation})`,
    ].join('\n'),
  );
}

/** Verdicts of the runs; a single one if all are equal. */
function verdictsOf(runs: readonly SubmittedRun[]): string {
  const verdicts = runs.map((run) => String(recordOf(run, 'result_validity') ?? 'none'));
  return new Set(verdicts).size === 1 ? String(verdicts[0]) : verdicts.join(', ');
}

/** The submitter's description of batching; the nodes' own is already among their settings. */
function batchingText(result: PlannedResult): string {
  const said = saidBatching(result);
  if (said !== '') return said;
  return nodesStateBatching(result)
    ? 'See "batching" among the settings of each SUT node above.'
    : 'Not stated.';
}

/** A note of longhaul in accuracy.txt, below the script's line. */
const NOTE = /^note: (.*)/;
const STAND_IN = /\bstand-?in\b/i;

/**
 * A line of accuracy.txt as a table row. longhaul's notes below the script's line are text: numbers
 * in them are not results.
 */
function accuracyRow(line: string): readonly [string, string] {
  const note = NOTE.exec(line)?.[1];
  return note === undefined ? ['Accuracy', `\`${fiveFiguresIn(line)}\``] : ['Note', note];
}

/** Warnings at the top of the README: dry run, engine, stand-in. They cannot be turned off. */
function marksOf({ runs }: PlannedResult, isDryRun: boolean): string[] {
  const { performance, accuracyLines } = runs;
  const engine = String(recordOf(performance, 'loadgen_version') ?? '');
  const isStandIn = performance.audit?.nodes.some((node) => node.description?.model?.isStandIn);
  const notes = accuracyLines.flatMap((line) => NOTE.exec(line)?.[1] ?? []);
  return [
    isDryRun ? `${DRY_RUN_WORDS}: built to try things out, run lengths are not checked.` : '',
    engine.startsWith('longhaul')
      ? `Measured by ${engine}, which is not the approved C++ LoadGen: accepted form, not a valid closed or network submission.`
      : '',
    isStandIn === true
      ? 'Measured with a stand-in model: its weights are not those of the benchmark.'
      : '',
    ...notes.filter((note) => STAND_IN.test(note)).map((note) => `Note of the run: ${note}.`),
  ].filter((mark) => mark !== '');
}

function inferredText({ entry }: PlannedResult): string {
  if (entry.inferred_from === undefined) return '';
  return (
    `This result is inferred from the measured ${entry.inferred_from} result, as edge systems may ` +
    `(inference_rules v4.1): its logs are copies of that one's, the checker computes ${entry.scenario} from them.`
  );
}

function runText({ runs: { performance, accuracy }, implementation }: PlannedResult): string {
  const said = implementation.entry.run_commands;
  const isOneRun = performance.files.folder === accuracy.files.folder;
  const commands = isOneRun
    ? [commandText(performance, 'RUN')]
    : [
        '### Performance',
        commandText(performance, 'PERFORMANCE'),
        '### Accuracy',
        commandText(accuracy, 'ACCURACY'),
      ];
  return document(
    said === undefined
      ? 'The submitter states no commands of the SUT nodes ("run_commands"); their settings stand below where they reported them.'
      : `As the submitter states them:\n\n${codeBlock(said, 'sh')}`,
    ...commands,
    nodesText(performance),
  );
}

function commandText(run: SubmittedRun, output: string): string {
  const command = runCommandOf(run, output);
  if (command !== undefined) {
    const version = run.audit?.loadgenNode.softwareVersion ?? packageVersion();
    return `On the LoadGen node (longhaul ${version}):\n\n${codeBlock(command, 'sh')}`;
  }
  const settings = [...run.detail.records.values()]
    .filter(({ key }) => key.startsWith('effective_'))
    .map(({ key, value }) => [key, String(value)]);
  return (
    'The run left no command line. With the user.conf beside this file LoadGen had these settings:\n\n' +
    table(['setting', 'value'], settings)
  );
}

function serversText(nodes: NetworkAudit['nodes'], title: string): string {
  return document(
    '### SUT nodes',
    `The run spoke ${title}, which reports no settings of a server: the submitter must state them.`,
    table(
      ['node', 'server', 'model', 'platform'],
      nodes.map((node) => {
        const { server } = node;
        return [
          node.address,
          softwareOf(server) || 'not reported',
          modelOf(server),
          server?.platform || 'not reported',
        ];
      }),
    ),
  );
}

function nodesText({ audit }: SubmittedRun): string {
  const { title, traits } = protocolNamed(audit?.run.protocol);
  if (audit !== undefined && traits.peer === 'server') return serversText(audit.nodes, title);
  const nodes = audit?.nodes.filter(({ description }) => description !== null) ?? [];
  if (nodes.length === 0) return '';
  return document(
    '### SUT nodes',
    'Settings of each node, as the node itself told them at the start of the performance run; what is not there is not set.',
    ...nodes.map(({ address, description }) =>
      document(
        `#### ${description?.name} (${address}), ${description?.software} ${description?.softwareVersion}`,
        table(
          ['setting', 'value'],
          Object.entries(description?.settings ?? {}).filter(([, value]) => value !== ''),
        ),
      ),
    ),
  );
}

/**
 * README.md of an implementation's code. Source: submission_rules, "Source code requirements for
 * inference inspection".
 * @param sources Folder of longhaul's sources, relative to this README.
 */
export function codeReadme(
  implementation: PlannedImplementation,
  results: readonly PlannedResult[],
  sources: string,
): string {
  const { id, entry, files, weights } = implementation;
  const model = results[0]?.entry.model ?? '';
  return document(
    `# ${id}: the code for ${model}`,
    '## Connection to LoadGen',
    `longhaul ${packageVersion()} (npm package "longhaul", Apache-2.0) is LoadGen node, Query Dispatch Library and SUT node. ` +
      `The sources of the QDL and of the wire contract are in [${sources}](${sources}), their SHA-256 in ` +
      `[SHA256SUMS.txt](${sources}/SHA256SUMS.txt). A run with another LoadGen names its version in its detail log.`,
    '## What is here',
    files.size === 0
      ? 'No code beyond longhaul was named.'
      : [...files.keys()].map((name) => `* [${name}](${name})`).join('\n'),
    '* [run.sh](run.sh): makes the runs again, with the commands of the README of each result',
    '## Model',
    table(
      ['', ''],
      [
        ['Starting weights', entry.starting_weights_filename],
        ['Data types of the weights', entry.weight_data_types],
        ['Transformations of the weights', entry.weight_transformations],
        ['Data types of the input', entry.input_data_types],
        ['Retraining', entry.retraining],
      ],
    ),
    table(
      ['weights', 'SHA-256', 'where'],
      weights.map(({ name, sha256, file, source }) => [
        name,
        `\`${sha256}\``,
        file === undefined ? (source ?? '') : `[weights/${name}](weights/${name})`,
      ]),
    ),
    '## Calibration and transformation of the weights',
    implementation.calibration,
    '## Batching in the Server scenario',
    entry.batching ?? 'It stands in the README of each result, among what the SUT nodes say.',
    entry.run_commands === undefined ? '' : '## Run commands',
    entry.run_commands === undefined ? '' : codeBlock(entry.run_commands, 'sh'),
  );
}

/** run.sh: repeats every run of an implementation, each in its own folder. */
export function runScript({ id, entry }: PlannedImplementation, results: readonly PlannedResult[]) {
  const commands = results.flatMap(({ entry: { system, model, scenario }, runs }) =>
    (['performance', 'accuracy'] as const).map((kind) => {
      const output = `runs/${system}/${model}/${scenario}/${kind}`;
      const command = runCommandOf(runs[kind], output);
      return command ?? `# ${output}: a run of another LoadGen, whose command is not known`;
    }),
  );
  const said = entry.run_commands;
  return [
    '#!/bin/sh',
    `# Makes the runs of ${id} again. The SUT nodes run already; addresses are those of the original runs.`,
    `# It needs longhaul ${packageVersion()} (npm package "longhaul"): in a clone "npm ci && npm link", or LONGHAUL='npx longhaul'.`,
    ...(said === undefined
      ? []
      : ['# The submitter states:', ...said.split('\n').map((line) => `#   ${line}`)]),
    'set -eu',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's, not ours.
    'longhaul() { ${LONGHAUL:-command longhaul} "$@"; }',
    ...new Set(commands),
    '',
  ].join('\n');
}

/**
 * Settings that a repetition omits: output folders, and what the user wanted to display or store.
 */
const LEFT_OUT = new Set(['output', 'cacheDir', 'thresholds', 'labels', 'records', 'report']);

/**
 * Command line that repeats a run, from its recorded settings. Undefined for a run of another
 * LoadGen, whose settings are only in its log.
 * @param output Folder for the logs.
 */
function runCommandOf({ settings }: SubmittedRun, output: string): string | undefined {
  if (settings === undefined) return undefined;
  const flags = Object.entries(settings)
    .filter(([key, value]) => !LEFT_OUT.has(key) && value !== null && value !== false)
    .map(([key, value]) => flagText(key, value));
  return ['longhaul run', ...flags, `--output ${output}`].join(' \\\n  ');
}
