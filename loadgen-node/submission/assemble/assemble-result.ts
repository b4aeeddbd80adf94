import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { ResultPlace } from '../tree/tree-layout.ts';
import { measurementReadme } from './documents/measurement-readme.ts';
import type { PlannedResult } from './plan/read-results.ts';
import type { SubmittedRun } from './plan/read-run.ts';
import type { DivisionScope } from './tree-files.ts';

/** Puts a result in its place: logs, measurements, compliance tests, evidence. */
export function assembleResult(scope: DivisionScope, result: PlannedResult): void {
  const { plan, layout, division, files } = scope;
  const { system, model, scenario } = result.entry;
  const place: ResultPlace = { division, submitter: plan.submitter, system, model, scenario };
  const { performance, accuracy, tests } = result.runs;
  const copy = (
    folder: string,
    run: SubmittedRun,
    names: readonly (keyof typeof RUN_FILES)[],
  ): void => {
    for (const name of names) files.copy(posix.join(folder, RUN_FILES[name]), run.files[name]);
  };
  // Only these: the official checkers refuse what they do not know.
  copy(layout.performance(place), performance, ['summary', 'detail']);
  copy(layout.accuracy(place), accuracy, ['summary', 'detail', 'accuracy', 'accuracyText']);
  assembleMeasurements(scope, result, place);
  for (const [kind, run] of Object.entries({ performance, accuracy })) {
    const left = (['audit', 'record'] as const).filter((name) => existsSync(run.files[name]));
    copy(layout.evidence(place, kind), run, left);
  }
  // Open needs no tests, and the official checkers look for none.
  if (division === 'open') return;
  for (const { test, files: own, evidence } of tests) {
    files.copyAll(layout.compliance(place, test), own);
    files.copyAll(layout.evidence(place, test), evidence);
  }
}

function assembleMeasurements(
  scope: DivisionScope,
  result: PlannedResult,
  place: ResultPlace,
): void {
  const { plan, layout, division, files, implementationOf } = scope;
  const implementation = implementationOf(result);
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
  const code = `${layout.code(division, plan.submitter)}/${place.model}/${implementation.id}`;
  const documentation = layout.documentation(division, plan.submitter);
  const readme = measurementReadme({
    ...{ result, implementation, division, round: plan.round, isDryRun: plan.isDryRun },
    code: posix.relative(folder, code),
    documentation: posix.relative(folder, documentation),
  });
  files.text(`${folder}/README.md`, readme);
  files.text(`${folder}/user.conf`, result.userConf);
  // Only the checker of v4.1 asks for it; LoadGens of later rounds have it built in.
  if (layout.round === 'v4.1') files.text(`${folder}/mlperf.conf`, mlperfConfOf(plan.round));
  if (layout.isFlat) return;
  files.text(`${folder}/calibration_process.adoc`, `${implementation.calibration.trim()}\n`);
}
