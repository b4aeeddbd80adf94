import { z } from 'zod';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { FILE_BYTES_MAX, readJsonFile } from '../../../shared/base/files/read-file.ts';
import { formatNs, percentage, rounded, tableLines } from '../../../shared/base/text.ts';
import {
  compareSides,
  type LatencyDifference,
  type PartDifference,
  type SideComparison,
} from './compare-sides.ts';
import {
  EFFICIENCY_SIDE,
  type EfficiencySide,
  LATENCY_ROWS,
  SIDE_FILE,
  TOKEN_ROWS,
} from './efficiency-sides.ts';

const REPORT_VERSION = 2;

/** The result of `longhaul efficiency`; its JSON file. */
export function efficiencyReport(
  asked: { readonly scenario: string; readonly benchmark: string; readonly isOneMachine: boolean },
  inProcess: EfficiencySide,
  network: EfficiencySide,
): EfficiencyReport {
  const { scenario, benchmark, isOneMachine } = asked;
  return {
    schemaVersion: REPORT_VERSION,
    longhaul: packageVersion(),
    scenario,
    benchmark,
    comparison: compareSides(scenario, inProcess, network),
    notes: [
      ...(isOneMachine ? [oneMachineNote(network.machine.cpuCount)] : []),
      ...efficiencyNotes(inProcess, network),
    ],
    inProcess,
    network,
  };
}

/** The file of a comparison. */
export interface EfficiencyReport {
  readonly schemaVersion: number;
  /** Version of longhaul. */
  readonly longhaul: string;
  readonly scenario: string;
  readonly benchmark: string;
  readonly comparison: SideComparison;
  /** Limits of the comparison. */
  readonly notes: readonly string[];
  readonly inProcess: EfficiencySide;
  readonly network: EfficiencySide;
}

/** The result for people. */
export function efficiencyText({
  comparison,
  notes,
  scenario,
  inProcess,
}: EfficiencyReport): string {
  return [
    `${scenario}, ${inProcess.model.configuration}`,
    '',
    efficiencyTable(comparison),
    efficiencySentence(comparison),
    ...notes.map((note) => `note: ${note}`),
    '',
  ].join('\n');
}

/** One side alone, for people. @param file Where it was written. */
export function insideText({ search, runs, model }: EfficiencySide, file: string | null): string {
  const listed = (rates: readonly (number | null)[]): string =>
    rates.map((rate) => (rate === null ? 'none' : rounded(rate, 4))).join(', ');
  const peak = search === null ? '' : `peak ${listed([search.value])} (${search.limitText})\n`;
  const samples = listed(runs.map(({ samplesPerSecond }) => samplesPerSecond));
  const hasTokens = runs.some(({ tokensPerSecond }) => tokensPerSecond !== null);
  const tokens = hasTokens
    ? `, ${listed(runs.map(({ tokensPerSecond }) => tokensPerSecond))} tokens/s`
    : '';
  const made = runs.length === 0 ? 'none' : `${samples} samples/s${tokens}`;
  const written =
    file === null ? '' : `written to ${file}: take it to the LoadGen machine, for --in-process\n`;
  return `in process: ${model.configuration}\n${peak}runs: ${made}\n${written}`;
}

const REPORT = z.object({
  schemaVersion: z.literal(REPORT_VERSION),
  longhaul: z.string(),
  scenario: z.string(),
  benchmark: z.string(),
  notes: z.array(z.string()),
  inProcess: EFFICIENCY_SIDE,
  network: EFFICIENCY_SIDE,
});

/** A comparison that is read again, or one side alone. @throws MlperfError as `readJsonFile` */
export function readEfficiency(path: string) {
  const read = readJsonFile(path, z.union([REPORT, SIDE_FILE]), FILE_BYTES_MAX.document);
  if ('side' in read) {
    const { side } = read;
    const { scenario = '-', benchmark = '-' } = side.question;
    return { scenario, benchmark, side, text: insideText(side, path), json: read };
  }
  const comparison = compareSides(read.scenario, read.inProcess, read.network);
  const json = { ...read, comparison };
  const { scenario, benchmark } = read;
  return { scenario, benchmark, side: read.network, text: efficiencyText(json), json };
}

/** Differences below are no part of an answer to "where does it go". */
const PART_NS_MIN = 1_000;

/** The comparison in one or two sentences. */
export function efficiencySentence({ efficiency, whyNot, latency, parts }: SideComparison): string {
  const sentences = [];
  if (efficiency === null) sentences.push(`There is no efficiency: ${whyNot?.replace(/\.$/, '')}.`);
  else {
    const { value, low, high } = efficiency;
    sentences.push(
      `Over the network the SUT has ${percentage(value)} (${percentage(low)} to ${percentage(high)}) of what it has in process.`,
    );
  }
  if (latency === null) return sentences.join(' ');
  sentences.push(latencySentence(latency));
  const [most] = parts.toSorted((a, b) => b.differenceNs - a.differenceNs);
  if (most !== undefined && most.differenceNs >= PART_NS_MIN) {
    sentences.push(
      `In the mean most of it is ${most.part}: ${signed(most.differenceNs)} (${plain(most.inProcessNs)} in process, ${plain(most.networkNs)} over the network).`,
    );
  }
  return sentences.join(' ');
}

function latencySentence(latency: LatencyDifference): string {
  const { load, difference, p99Low, p99High, pairs, tokens } = latency;
  const at = load === null ? '' : `At ${figure(load)} queries/s on both sides, `;
  const band = pairs > 1 ? ` (${signed(p99Low)} to ${signed(p99High)} in ${pairs} pairs)` : '';
  const begin = at === '' ? 'The' : `${at}the`;
  const whole = `${begin} latency differs by ${signed(difference.p50Ns)} at p50 and ${signed(difference.p99Ns)} at p99${band}.`;
  if (tokens === null) return whole;
  const { ttftP99Ns, tpotP99Ns } = tokens.difference;
  return `${whole} At p99 TTFT differs by ${signed(ttftP99Ns)}, TPOT by ${signed(tpotP99Ns)}.`;
}

/** End of the name of a value that is a length of time. */
const TIME_UNIT = ', ns';

/** Tables for the screen. */
export function efficiencyTable(comparison: SideComparison): string {
  const { efficiency, latency, parts, warnings } = comparison;
  const lines: string[] = [];
  if (efficiency !== null) {
    const isTime = efficiency.what.endsWith(TIME_UNIT);
    const shown = isTime ? formatNs : figure;
    lines.push(
      ...tableLines([
        ['', 'in process', 'network', 'efficiency', 'band'],
        [
          isTime ? efficiency.what.slice(0, -TIME_UNIT.length) : efficiency.what,
          shown(efficiency.inProcess),
          shown(efficiency.network),
          percentage(efficiency.value),
          `${percentage(efficiency.low)} to ${percentage(efficiency.high)}`,
        ],
        ...(efficiency.tokens === null ? [] : [tokenRateRow(efficiency.tokens)]),
      ]),
      `band: ${efficiency.band}`,
      '',
    );
  }
  if (latency !== null) lines.push(...latencyTable(latency), '');
  if (parts.length > 0) lines.push(...partsTable(parts), '');
  return [...lines, ...warnings.map((text) => `warning: ${text}`)].join('\n');
}

function tokenRateRow({ inProcess, network }: Readonly<Record<'inProcess' | 'network', number>>) {
  const name = 'tokens/s completed there';
  return [name, figure(inProcess), figure(network), percentage(network / inProcess), ''];
}

function latencyTable({ load, tokens, ...latency }: LatencyDifference): string[] {
  const title = load === null ? 'latency' : `latency at ${figure(load)}/s`;
  return tableLines([
    [title, 'in process', 'network', 'difference'],
    ...timeRows(LATENCY_ROWS, latency),
    ...(tokens === null ? [] : timeRows(TOKEN_ROWS, tokens)),
  ]);
}

function timeRows<K extends string>(
  rows: readonly (readonly [name: string, key: K])[],
  times: Readonly<Record<'inProcess' | 'network' | 'difference', Readonly<Record<K, number>>>>,
): string[][] {
  return rows.map(([name, key]) => [
    name,
    formatNs(times.inProcess[key]),
    formatNs(times.network[key]),
    signed(times.difference[key]),
  ]);
}

function partsTable(parts: readonly PartDifference[]): string[] {
  return tableLines([
    ['where it goes (mean)', 'in process', 'network', 'difference'],
    ...parts.map(({ part, inProcessNs, networkNs, differenceNs }) => [
      part,
      plain(inProcessNs),
      plain(networkNs),
      signed(differenceNs),
    ]),
  ]);
}

function signed(ns: number): string {
  return ns < 0 ? plain(ns) : `+${plain(ns)}`;
}

/** The remainder that is called network may lie below 0. */
function plain(ns: number): string {
  return ns < 0 ? `-${formatNs(-ns)}` : formatNs(ns);
}

function figure(value: number): string {
  return rounded(value, 4);
}

/** Notes that limit how a comparison may be read. */
function efficiencyNotes(inProcess: EfficiencySide, network: EfficiencySide): string[] {
  const notes = [
    'longhaul is not the C++ LoadGen of an approved revision: none of these numbers is an MLPerf result',
  ];
  const [own, other] = [inProcess.machine, network.machine];
  const machine = own.hostname;
  // A machine may have no boot id.
  const isKnown = own.bootId !== '' && other.bootId !== '';
  const isSame = isKnown ? own.bootId === other.bootId && machine === other.hostname : undefined;
  if (isSame === false) {
    notes.push(
      `the model in process ran on ${machine}, the SUT node on ${network.machine.hostname}: other machines, or one that was started anew; what differs between them is in the efficiency`,
    );
  }
  notes.push(
    `in process LoadGen and model share the ${inProcess.machine.cpuCount} cores of ${machine}: LoadGen's own work is taken from the model there, and over a network it is not; so a network may have more than 100 %`,
  );
  return notes;
}

/** Where LoadGen itself ran on the SUT's machine. */
function oneMachineNote(cpuCount: number): string {
  return `one machine: LoadGen, gRPC on both ends and the SUT node share ${cpuCount} cores, over loopback: no network was measured, and on two machines the efficiency is another`;
}
