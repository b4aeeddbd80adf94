import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { FILE_BYTES_MAX, readJsonFile } from '../../../shared/base/files/read-file.ts';
import { rounded } from '../../../shared/base/text.ts';
import { peakOf } from '../peak/find-peak.ts';
import { compareSides, type SideComparison } from './compare-sides.ts';
import { EFFICIENCY_SIDE, type EfficiencySide, SIDE_FILE } from './efficiency-file.ts';

const REPORT_VERSION = 3;

const REPORT = z.object({
  schemaVersion: z.literal(REPORT_VERSION),
  longhaul: z.string(),
  scenario: z.string(),
  benchmark: z.string(),
  notes: z.array(z.string()),
  inProcess: EFFICIENCY_SIDE,
  network: EFFICIENCY_SIDE,
});

/** The file of a comparison. `notes` limit how it may be read. */
export interface EfficiencyReport
  extends Omit<DeepReadonly<z.infer<typeof REPORT>>, 'inProcess' | 'network'> {
  readonly inProcess: EfficiencySide;
  readonly network: EfficiencySide;
  readonly comparison: SideComparison;
}

/** The result of `longhaul efficiency`: for people, and its JSON file. */
export function efficiencyReport(
  asked: { readonly scenario: string; readonly benchmark: string; readonly isOneMachine: boolean },
  inProcess: EfficiencySide,
  network: EfficiencySide,
): { readonly text: string; readonly json: EfficiencyReport } {
  const { isOneMachine, ...about } = asked;
  const [here, there] = [inProcess.machine, network.machine];
  const isKnown = here.bootId !== '' && there.bootId !== '';
  const notes = [
    ...(isOneMachine
      ? [
          `one machine: LoadGen, gRPC on both ends and the SUT node share ${there.cpuCount} cores, over loopback: no network was measured, and on two machines the efficiency is another`,
        ]
      : []),
    'longhaul is not the C++ LoadGen of an approved revision: none of these numbers is an MLPerf result',
    ...(isKnown && here.bootId !== there.bootId
      ? [
          `the model in process ran on ${here.hostname}, the SUT node on ${there.hostname}: other machines, or one that was started anew; what differs between them is in the efficiency`,
        ]
      : []),
    `in process LoadGen and model share the ${here.cpuCount} cores of ${here.hostname}: LoadGen's own work is taken from the model there, and over a network it is not; so a network may have more than 100 %`,
  ];
  const longhaul = packageVersion();
  const kept = { schemaVersion: REPORT_VERSION, longhaul, ...about, notes, inProcess, network };
  return compared(kept as Omit<EfficiencyReport, 'comparison'>);
}

function compared(kept: Omit<EfficiencyReport, 'comparison'>) {
  const { scenario, inProcess, network, notes } = kept;
  const { lines, comparison } = compareSides(scenario, inProcess, network);
  const text = [
    `${scenario}, ${inProcess.model.configuration}`,
    ...['', ...lines, ...notes.map((note) => `note: ${note}`), ''],
  ].join('\n');
  return { text, json: { ...kept, comparison } };
}

/** One side alone, for people. @param file Where it was written. */
export function insideText({ search, runs, model }: EfficiencySide, file: string | null): string {
  const found = search && peakOf(search.search, search.probes);
  const peak =
    found === null
      ? ''
      : `peak ${found.value === null ? 'none' : rounded(found.value, 4)} (${found.limitText})\n`;
  const rates = runs.map(({ figures: { completed_qps: rate = 0, tokens_per_second: tokens } }) => {
    const ofTokens = tokens === undefined ? '' : ` and ${rounded(tokens, 4)} tokens/s`;
    return `${rounded(rate, 4)} samples/s${ofTokens}`;
  });
  const written =
    file === null ? '' : `written to ${file}: take it to the LoadGen machine, for --in-process\n`;
  return `in process: ${model.configuration}\n${peak}runs: ${rates.join(', ') || 'none'}\n${written}`;
}

/** A comparison that is read again, or one side alone. @throws MlperfError as `readJsonFile` */
export function readEfficiency(path: string) {
  const read = readJsonFile(path, z.union([REPORT, SIDE_FILE]), FILE_BYTES_MAX.document);
  if ('side' in read) {
    const one = read.side as EfficiencySide;
    const { scenario = '-', benchmark = '-' } = one.question;
    return { scenario, benchmark, side: one, text: insideText(one, path), json: read };
  }
  const { scenario, benchmark } = read;
  const result = compared(read as Omit<EfficiencyReport, 'comparison'>);
  return { scenario, benchmark, side: result.json.network, ...result };
}
