import { protocolNamed } from '../../../qdl/protocols/index.ts';
import { formatNs, sentencesOf } from '../../../shared/base/text.ts';
import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { GeneratorCeiling, GeneratorHealth } from '../../loadgen/results/generator-health.ts';
import { type GeneratorFinding, generatorFinding } from '../../observe/health/ceiling-file.ts';
import { serverStatisticsText } from '../../observe/split/server-statistics.ts';
import type { PartFigures } from '../../observe/split/split-sums.ts';
import { leftOutText } from '../../observe/split/split-text.ts';
import { hasSchedule, type RunSummary } from '../../observe/summary/run-summary.ts';
import type { LabelledText } from './result-text.ts';

/** Parts below this share of the latency are omitted. */
const SHOWN_SHARE = 0.03;

/** Split, ceiling and servers of a run. */
export interface TimeReport {
  readonly summary: Pick<RunSummary, 'split' | 'ceiling'> &
    Partial<Pick<RunSummary, 'nodes' | 'protocol' | 'round' | 'loadTest'>>;
  readonly outcome: { readonly performance: PerformanceOutcome | null };
}

/**
 * Where the time went, what limits the run, and how LoadGen fared; lines without information are
 * omitted.
 */
export function timeLines({
  summary: { split, ceiling, protocol, nodes = [], round = '', loadTest = null },
  outcome: { performance },
}: TimeReport): LabelledText[] {
  if (performance === null) return [];
  const lines: LabelledText[] = [];
  if (split !== null && leftOutText(split) === null) {
    const { tokens } = split;
    const parts = tokens?.parts ?? split.parts;
    const what = tokens === undefined ? '' : ' to the first token';
    lines.push(
      ['Time', `typical       ${shares(parts, what, ({ typicalNs }) => typicalNs)}`],
      ['', `slowest 1 %   ${shares(parts, what, ({ tailNs }) => tailNs)}`],
    );
  } else if (split === null && !protocolNamed(protocol).traits.hasDurations) {
    lines.push(['Time', 'in no parts: the protocol reports no times of single queries']);
  }
  lines.push(...serverLines(nodes));
  const { health } = performance;
  const { scenario } = performance.summary;
  const finding = generatorFinding(performance, hasSchedule({ scenario, round, loadTest }));
  // A limit of LoadGen comes before limits of the SUT.
  const whys = finding.kind === 'bound' ? `LoadGen was ${finding.text}`.split('; ') : [];
  if (split !== null) whys.push(...sentencesOf(split.text));
  lines.push(...whys.map((text, i): LabelledText => [i === 0 ? 'Why' : '', text]));
  if (health !== null) lines.push(...healthLines(health, finding));
  if (ceiling !== null) lines.push(...ceilingLines(performance, ceiling));
  return lines;
}

/** Not shown beside the split's parts: these are the server's averages over all its clients. */
export function serverLines(nodes: RunSummary['nodes']): LabelledText[] {
  const lines = nodes.flatMap(({ address, server }) =>
    server?.statistics ? [`${address}: ${serverStatisticsText(server.statistics)}`] : [],
  );
  if (lines.length === 0) return [];
  const what = "the server's own statistics: means over the run, with all its clients in them";
  return [what, ...lines].map((text, i) => [i === 0 ? 'Server' : '', text]);
}

/** The sum, and the relevant parts, largest first. */
function shares<P extends string>(
  parts: readonly PartFigures<P>[],
  what: string,
  pick: (figures: PartFigures<P>) => number,
): string {
  const sumNs = parts.reduce((sum, figures) => sum + pick(figures), 0);
  const shown = parts
    .map((figures) => ({ part: figures.part, ns: pick(figures) }))
    .filter(({ ns }) => ns >= SHOWN_SHARE * sumNs)
    .sort((a, b) => b.ns - a.ns);
  const texts = shown.map(({ part, ns }) => `${part} ${formatNs(ns)}`);
  return `${formatNs(sumNs)}${what}: ${texts.join(', ')}`;
}

/**
 * Lines on LoadGen's health. Back-pressure is reported if queries waited for it during a tenth of
 * the time.
 */
function healthLines(health: GeneratorHealth, { kind, text }: GeneratorFinding): LabelledText[] {
  const texts = kind === 'disturbed' ? [text] : [];
  const lengthNs = health.seconds.at(-1)?.atNs ?? 0;
  const { socketNs = 0, creditNs = 0 } = health.backPressure ?? {};
  if (socketNs > 0.1 * lengthNs) {
    texts.push(
      `queries waited for a socket to take more in ${percent(socketNs / lengthNs)} of the time`,
    );
  }
  if (creditNs > 0.1 * lengthNs) {
    texts.push(
      `queries waited for credit of the SUT in ${percent(creditNs / lengthNs)} of the time`,
    );
  }
  return texts.length === 0 ? [] : [['LoadGen', texts.join('; ')]];
}

/**
 * The ceiling is in queries per second: meaningless in Offline, whose samples go in few messages.
 */
function ceilingLines(
  { summary, durationNs }: PerformanceOutcome,
  { loopbackQps, measuredAt, isDisturbed }: GeneratorCeiling,
): LabelledText[] {
  if (summary.scenario === 'Offline' || durationNs === 0) return [];
  const qps = summary.queryCount / (durationNs / 1e9);
  const text =
    `${qps.toFixed(0)} queries/s are ${percent(qps / loopbackQps)} of what LoadGen carries on this machine ` +
    `(${loopbackQps.toFixed(0)} over loopback to a null SUT, 16 B each; longhaul doctor, ${measuredAt.slice(0, 10)}${isDisturbed === true ? ', on a busy machine: it carries more' : ''})`;
  return [['Ceiling', text]];
}

function percent(share: number): string {
  const value = 100 * share;
  return `${value < 10 ? Number(value.toPrecision(2)) : Math.round(value)} %`;
}
