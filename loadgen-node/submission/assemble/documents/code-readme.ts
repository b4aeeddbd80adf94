import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { flagText } from '../../../run/plan/flag-text.ts';
import type { PlannedImplementation } from '../plan/read-implementation.ts';
import type { PlannedResult } from '../plan/read-results.ts';
import type { SubmittedRun } from '../plan/read-run.ts';
import { codeBlock, document, table } from './markdown.ts';

/**
 * README.md of an implementation's code. Source: submission_rules, "Source code requirements for inference
 * inspection".
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

/** run.sh: every run of an implementation again, one folder each. */
export function runScript(
  { id, entry }: PlannedImplementation,
  results: readonly PlannedResult[],
): string {
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

/** Where a run wrote its logs, and what its user wished to see or keep, say nothing about how it is made again. */
const LEFT_OUT = new Set(['output', 'cacheDir', 'thresholds', 'records', 'report']);

/**
 * The command line that makes a run again, from the settings that were said. Undefined for a run of another
 * LoadGen, which leaves its settings in its log only.
 * @param output Folder for the logs.
 */
export function runCommandOf({ settings }: SubmittedRun, output: string): string | undefined {
  if (settings === undefined) return undefined;
  const flags = Object.entries(settings)
    .filter(([key, value]) => !LEFT_OUT.has(key) && value !== null && value !== false)
    .map(([key, value]) => flagText(key, value));
  return ['longhaul run', ...flags, `--output ${output}`].join(' \\\n  ');
}
