import { formatRate } from '../../../samples/bandwidth/link-rate.ts';
import { fiveFigures } from '../documents/five-figures.ts';
import { document, table } from '../documents/markdown.ts';
import type { PlannedImplementation, PlannedResult, PlannedSystem } from '../plan/plan-types.ts';
import { type BandwidthFigures, bandwidthFigures, endRates } from './bandwidth-figures.ts';

/** What a sample costs on the wire besides its payload, in bytes; measured figures of proto/README.md. */
const FRAMING =
  'Payloads alone are counted. Besides, a message has 12 to 20 bytes of its own, 5 of gRPC and 9 of HTTP/2 per frame of at ' +
  'most 16 KiB; a response has 20 to 50. TCP/IP over Ethernet adds 78 bytes to each segment of about 1,448 bytes ' +
  '(5.4 %), less with jumbo frames, and acknowledgements the other way.';

const SOURCE =
  'Rule: inference_rules v4.1, "Datacenter Bandwidth Requirements" and "LoadGen Operation". The formulas hold for inputs ' +
  'that are not pre-processed; where the bytes that travel differ, they are adjusted to what both ends counted ' +
  '(network_audit.json: payloadBytes / sampleCount, responseBytes / completedCount).';

/** A statement, and the shortfalls that it tells. */
export interface BandwidthStatement {
  readonly text: string;
  /** One sentence per end that cannot carry what a result needs. */
  readonly shortfalls: readonly string[];
}

/** bandwidth.md of a system: what each of its results needs, against what the links can carry. */
export function bandwidthStatement(
  system: PlannedSystem,
  results: readonly (readonly [PlannedResult, PlannedImplementation])[],
): BandwidthStatement {
  const shortfalls: string[] = [];
  const sections = results.map(([result, implementation]) =>
    resultText(system, result, bandwidthFigures(result, implementation), shortfalls),
  );
  const text = document(
    `# Bandwidth of ${system.id}`,
    SOURCE,
    FRAMING,
    '## Way of the data',
    system.dataPath ?? 'Not stated.',
    system.dataPathEvidence === undefined
      ? 'No specification or measurement of it is stated.'
      : `That it sustains what is required: ${system.dataPathEvidence}`,
    linksText(system),
    ...sections,
  );
  return { text, shortfalls };
}

function linksText({ network }: PlannedSystem): string {
  if (network === undefined) return 'The links are not stated.';
  const rows = endRates(network, undefined).map(({ end, linkCount, bitsPerSecond }) => [
    end,
    String(linkCount),
    formatRate(bitsPerSecond),
  ]);
  return `## Links of each end, each way\n\n${table(['end', 'links', 'together'], rows)}`;
}

function resultText(
  system: PlannedSystem,
  { entry, scenario }: PlannedResult,
  figures: BandwidthFigures,
  shortfalls: string[],
): string {
  const title = `## ${entry.model}, ${scenario}`;
  const { throughput } = figures;
  if (throughput === undefined) {
    return `${title}\n\nThis scenario is measured by its latency; the rules ask for no bandwidth.`;
  }
  return document(
    title,
    table(['', ''], figureRows(figures, throughput)),
    marginText(system, `${entry.model} ${scenario}`, figures, shortfalls),
  );
}

function figureRows(figures: BandwidthFigures, throughput: number): string[][] {
  const { formula, dtype, formulaInputBytes, formulaOutputBytes, wire, ingress, egress } = figures;
  const rows = [['Throughput', `${fiveFigures(throughput)} samples/s`]];
  if (formula === undefined) rows.push(['Formula of the rules', 'none for this model']);
  else if (formulaInputBytes === undefined) {
    rows.push([
      'Formula of the rules, input',
      `${formula.input}; the size of an element is not known`,
    ]);
  } else {
    const bits = formatRate(formulaInputBytes * throughput * 8);
    rows.push([
      'Formula of the rules, input',
      `${formula.input} = ${formulaInputBytes} bytes (${dtype?.word}: ${dtype?.bytes}), ${bits}`,
    ]);
    rows.push([
      'Formula of the rules, output',
      formulaOutputBytes === undefined
        ? 'negligible: above 0'
        : `${formulaOutputBytes} bytes, ${formatRate(formulaOutputBytes * throughput * 8)}`,
    ]);
  }
  if (wire === undefined) rows.push(['Measured on the wire', 'not counted: no network_audit.json']);
  else {
    rows.push([
      'Measured on the wire, input',
      `${bytesPerSample(wire.payloadBytes, wire.samples)} (${wire.payloadBytes} bytes, ${wire.samples} samples)`,
    ]);
    rows.push([
      'Measured on the wire, output',
      `${bytesPerSample(wire.responseBytes, Math.max(1, wire.responses))} (${wire.responseBytes} bytes)`,
    ]);
  }
  rows.push([
    '**Required into the SUT**',
    ingress === undefined ? 'not known' : formatRate(ingress),
  ]);
  rows.push(['**Required out of the SUT**', egress === undefined ? 'above 0' : formatRate(egress)]);
  return rows;
}

/** Whole bytes, to be held against the formula's; the mean of payloads of unlike length is none. */
function bytesPerSample(bytes: number, samples: number): string {
  const mean = bytes / samples;
  const isWhole = Number.isInteger(mean);
  return `${isWhole ? '' : 'on average '}${Math.round(mean)} bytes per sample`;
}

function marginText(
  { network }: PlannedSystem,
  what: string,
  { ingress, egress, wire }: BandwidthFigures,
  shortfalls: string[],
): string {
  if (network === undefined || ingress === undefined) return '';
  const rows = endRates(network, wire).flatMap(({ end, bitsPerSecond, share }) =>
    (
      [
        ['into the SUT', ingress],
        ['out of the SUT', egress],
      ] as const
    ).flatMap(([way, needed]) => {
      if (needed === undefined) return [];
      const required = needed * share;
      if (required > bitsPerSecond) {
        shortfalls.push(
          `${what}: ${end} needs ${formatRate(required)} ${way} and has ${formatRate(bitsPerSecond)}`,
        );
      }
      const margin =
        required > bitsPerSecond ? '**too little**' : marginOf(bitsPerSecond, required);
      return [[end, way, percent(share), formatRate(required), formatRate(bitsPerSecond), margin]];
    }),
  );
  const split =
    wire === undefined
      ? 'Nodes are taken to have equal shares.'
      : 'A node has the share of the samples that the busiest one took.';
  return document(table(['end', 'way', 'share', 'required', 'links', 'margin'], rows), split);
}

function marginOf(rate: number, required: number): string {
  const times = required === 0 ? Number.POSITIVE_INFINITY : rate / required;
  if (times > 1000) return 'more than 1000 times';
  return times >= 10 ? `${Math.round(times)} times` : `${fiveFigures((times - 1) * 100)} %`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
