import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { inferredFigure, mayInfer } from '../../rules/inferred-results.ts';
import type { SubmissionScenario } from '../../rules/submission-model.ts';
import { sha256OfFile } from '../../tree/file-work.ts';
import { suitesOf } from '../read/description-values.ts';
import type { CheckContext, ResultSite } from '../read/sites.ts';

/**
 * The scenario that was measured: that of the folder, unless the result is inferred. It is where the system may infer
 * it, and its logs are copies of those of the measured scenario beside it; a notice says so then.
 * Source: inference_rules v4.1, "Benchmarks" ("create copies of the directories for the inferred results").
 */
export async function measuredScenario(site: ResultSite): Promise<SubmissionScenario> {
  const { scenario, division, description, place, scenarios } = site;
  if (division === 'network' || !mayInfer(suitesOf(description), scenario)) return scenario;
  const { layout, listing, logs, findings } = site;
  const file = posix.join(layout.performance(place), RUN_FILES.detail);
  if (!listing.hasFile(file)) return scenario;
  // What cannot be read is found when the log is checked.
  const log = await logs.read(file).catch(() => undefined);
  const seen = log?.records.get('effective_scenario')?.value;
  const isSeen = ([, one]: [string, unknown]): boolean => seen !== undefined && one === seen;
  const [folder, from] = [...scenarios].find(isSeen) ?? [];
  if (from === undefined || inferredFigure(scenario, from) === undefined) return scenario;
  const source = { ...place, scenario: folder as SubmissionScenario };
  const pairs = [layout.performance, layout.accuracy].map((of) =>
    [place, source].map((one) => posix.join(of.call(layout, one), RUN_FILES.detail)),
  );
  for (const pair of pairs) {
    if (!(await areEqual(site, pair as [string, string]))) return scenario;
  }
  findings.add('result-inferred', layout.result(place), `It is inferred from ${from}.`);
  return from;
}

async function areEqual({ listing }: CheckContext, files: [string, string]): Promise<boolean> {
  const [bytes, other] = files.map((file) => listing.bytesOf(file));
  if (bytes === undefined || bytes !== other) return false;
  const digests = files.map((file) => sha256OfFile(listing.pathOf(file)));
  const [digest, same] = await Promise.all(digests).catch(() => [undefined, '']);
  return digest === same;
}
