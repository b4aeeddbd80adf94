import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { ResultPlace, TreeLayout } from '../tree/tree-layout.ts';
import type { DivisionScope } from './division-scope.ts';
import { measurementReadme } from './documents/measurement-readme.ts';
import type { PlannedImplementation, PlannedResult } from './plan/plan-types.ts';
import type { SubmittedRun } from './plan/read-run.ts';
import type { PlannedFiles } from './planned-files.ts';

/** Puts a result in its place: logs, measurements, compliance tests, evidence. */
export function assembleResult(scope: DivisionScope, result: PlannedResult): void {
  const { plan, layout, division, files } = scope;
  const { system, model, scenario } = result.entry;
  const place: ResultPlace = { division, submitter: plan.submitter, system, model, scenario };
  const { performance, accuracy, accuracyFile, tests } = result.runs;
  copyLogs(files, layout.performance(place), performance);
  copyLogs(files, layout.accuracy(place), accuracy);
  files.copy(posix.join(layout.accuracy(place), RUN_FILES.accuracy), accuracy.files.accuracy);
  files.copy(posix.join(layout.accuracy(place), RUN_FILES.accuracyText), accuracyFile);
  assembleMeasurements(scope, result, place);
  copyEvidence(files, layout.evidence(place, 'performance'), performance);
  copyEvidence(files, layout.evidence(place, 'accuracy'), accuracy);
  // Open needs no tests, and the official checkers look for none.
  if (division === 'open') return;
  for (const { test, files: own, evidence } of tests) {
    files.copyAll(layout.compliance(place, test), own);
    files.copyAll(layout.evidence(place, test), evidence);
  }
}

/** Only these: the official checkers refuse what they do not know. */
function copyLogs(files: PlannedFiles, folder: string, run: SubmittedRun): void {
  files.copy(posix.join(folder, RUN_FILES.summary), run.files.summary);
  files.copy(posix.join(folder, RUN_FILES.detail), run.files.detail);
}

function copyEvidence(files: PlannedFiles, folder: string, run: SubmittedRun): void {
  for (const [name, file] of [
    [RUN_FILES.audit, run.files.audit],
    [RUN_FILES.record, run.files.record],
  ] as const) {
    if (existsSync(file)) files.copy(posix.join(folder, name), file);
  }
}

function assembleMeasurements(
  { plan, layout, division, files }: DivisionScope,
  result: PlannedResult,
  place: ResultPlace,
): void {
  const { entry, userConf } = result;
  const { round, submitter, isDryRun } = plan;
  const implementation = plan.implementations.get(entry.implementation) as PlannedImplementation;
  const folder = layout.measurements(place);
  const { starting_weights_filename, weight_data_types, weight_transformations } =
    implementation.entry;
  const { input_data_types, retraining } = implementation.entry;
  files.json(layout.measurementsFile(place, implementation.id), {
    input_data_types,
    retraining,
    starting_weights_filename,
    weight_data_types,
    weight_transformations,
  });
  const code = posix.join(layout.code(division, submitter), entry.model, implementation.id);
  const documentation = layout.documentation(division, submitter);
  const readme = measurementReadme({
    result,
    implementation,
    division,
    round,
    isDryRun,
    code: posix.relative(folder, code),
    documentation: posix.relative(folder, documentation),
  });
  files.text(posix.join(folder, 'README.md'), readme);
  files.text(posix.join(folder, 'user.conf'), userConf);
  if (wantsMlperfConf(layout)) files.text(posix.join(folder, 'mlperf.conf'), mlperfConfOf(round));
  if (!layout.isFlat) {
    files.text(
      posix.join(folder, 'calibration_process.adoc'),
      `${implementation.calibration.trim()}\n`,
    );
  }
}

/** Only the checker of v4.1 asks for it; LoadGens of later rounds have it built in. */
function wantsMlperfConf({ round }: TreeLayout): boolean {
  return round === 'v4.1';
}
