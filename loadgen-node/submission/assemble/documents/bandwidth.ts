import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import {
  bandwidthFormula,
  dtypeBytes,
  formatRate,
  parseRate,
} from '../../../samples/bandwidth-formulas.ts';
import { wireCounts } from '../../rules/submission-model.ts';
import type { NetworkEntry } from '../config/read-submission-config.ts';
import { LOADGEN_END, linksOf } from '../plan/network-diagram.ts';
import type { PlannedResult } from '../plan/read-results.ts';
import type { PlannedSystem } from '../plan/read-system.ts';
import { document, fiveFigures, table, throughputOf } from './markdown.ts';

/** Bytes per sample on the wire besides its payload, for the protocols of these results. */
function framingText(results: readonly PlannedResult[]): string {
  const names = new Set(results.map(({ runs }) => runs.performance.audit?.run.protocol));
  const framings = new Set([...names].map((name) => protocolNamed(name).words.wire.framing));
  return (
    `Payloads alone are counted. Besides, ${[...framings].join(' Or ')} ` +
    'TCP/IP over Ethernet adds 78 bytes to each segment of about 1,448 bytes (5.4 %), less with jumbo frames, and ' +
    'acknowledgements the other way.'
  );
}

const SOURCE =
  'Rule: inference_rules v4.1, "Datacenter Bandwidth Requirements" and "LoadGen Operation". The formulas hold for inputs ' +
  'that are not pre-processed; where the bytes that travel differ, they are adjusted to what both ends counted ' +
  '(network_audit.json: payloadBytes / sampleCount, responseBytes / completedCount).';

/**
 * bandwidth.md of a system: required bandwidth of each result, and capacity of the links.
 * @returns The text, and one sentence per end with too little capacity.
 */
export function bandwidthStatement(system: PlannedSystem, results: readonly PlannedResult[]) {
  const { network, data_path, data_path_evidence } = system;
  const shortfalls: string[] = [];
  const sections = results.map((result) => resultText(result, shortfalls));
  const ends = (network === undefined ? [] : endRates(network, undefined)).map(
    ({ end, linkCount, bitsPerSecond }) => [end, String(linkCount), formatRate(bitsPerSecond)],
  );
  const text = document(
    `# Bandwidth of ${system.id}`,
    SOURCE,
    framingText(results),
    '## Way of the data',
    data_path ?? 'Not stated.',
    data_path_evidence === undefined
      ? 'No specification or measurement of it is stated.'
      : `That it sustains what is required: ${data_path_evidence}`,
    network === undefined
      ? 'The links are not stated.'
      : `## Links of each end, each way\n\n${table(['end', 'links', 'together'], ends)}`,
    ...sections,
  );
  return { text, shortfalls };
}

/** Bandwidth of a result in bit/s. Rule: the formulas are adjusted to the bytes that are sent. */
function bandwidthFigures(result: PlannedResult) {
  const { runs, entry, model } = result;
  const throughput = throughputOf(runs.performance, entry.inferred_from ?? entry.scenario);
  const formula = model === undefined ? undefined : bandwidthFormula(model.benchmark);
  const dtype = dtypeOf(result);
  const bytesOf = (elements: number | undefined): number | undefined =>
    elements === undefined || dtype === undefined ? undefined : elements * dtype.bytes;
  const bits = (bytes: number | undefined): number | undefined =>
    bytes === undefined || throughput === undefined ? undefined : bytes * throughput * 8;
  const inputBytes = bytesOf(formula?.inputElements);
  const outputBytes = bytesOf(formula?.outputElements);
  const wire = wireCounts(runs.performance.audit);
  return {
    throughput,
    formula,
    dtype,
    /** Bytes of one sample by the formula. */
    inputBytes,
    outputBytes,
    wire,
    /** Required bit/s: from measured bytes, otherwise from the formula. */
    ingress: bits(wire === undefined ? inputBytes : wire.payloadBytes / wire.samples),
    egress: bits(wire?.responses ? wire.responseBytes / wire.responses : outputBytes),
  };
}

type BandwidthFigures = ReturnType<typeof bandwidthFigures>;

/**
 * Element size for the formula, and its source: the samples' wire form if it is a data type;
 * otherwise the submitter's data type of the input.
 */
function dtypeOf({ runs, implementation: { entry } }: PlannedResult) {
  const form = runs.performance.audit?.run.encoding.form ?? '';
  for (const word of [form, ...entry.input_data_types.split(/[\s,;/]+/)]) {
    const bytes = dtypeBytes(word);
    if (bytes !== undefined) return { word, bytes };
  }
  return undefined;
}

/** Links of the LoadGen node and of each SUT node, and their total bit/s. */
function endRates(network: NetworkEntry, wire: BandwidthFigures['wire']) {
  const links = linksOf(network);
  const share = wire?.largestShare ?? 1 / network.sut_nodes.length;
  return [LOADGEN_END, ...network.sut_nodes].map((end) => {
    const own = links.filter(({ from, to }) => from === end || to === end);
    const bits = own.map(({ count, rate }) => count * (parseRate(rate) ?? 0));
    return {
      end,
      linkCount: own.reduce((total, { count }) => total + count, 0),
      bitsPerSecond: bits.reduce((total, one) => total + one, 0),
      /** Share of the load at this end, 0 to 1. */
      share: end === LOADGEN_END ? 1 : share,
    };
  });
}

function resultText(result: PlannedResult, shortfalls: string[]): string {
  const { entry, system } = result;
  const figures = bandwidthFigures(result);
  const title = `## ${entry.model}, ${entry.scenario}`;
  const { throughput } = figures;
  if (throughput === undefined) {
    return `${title}\n\nThis scenario is measured by its latency; the rules ask for no bandwidth.`;
  }
  return document(
    title,
    table(['', ''], figureRows(figures, throughput)),
    marginText(system.network, `${entry.model} ${entry.scenario}`, figures, shortfalls),
  );
}

function figureRows(figures: BandwidthFigures, throughput: number): string[][] {
  const { formula, dtype, inputBytes, outputBytes, wire, ingress, egress } = figures;
  const rateOf = (bytes: number): string => formatRate(bytes * throughput * 8);
  const rows = [['Throughput', `${fiveFigures(throughput)} samples/s`]];
  if (formula === undefined) rows.push(['Formula of the rules', 'none for this model']);
  else if (inputBytes === undefined) {
    const text = `${formula.input}; the size of an element is not known`;
    rows.push(['Formula of the rules, input', text]);
  } else {
    const input = `${formula.input} = ${inputBytes} bytes (${dtype?.word}: ${dtype?.bytes})`;
    const output =
      outputBytes === undefined
        ? 'negligible: above 0'
        : `${outputBytes} bytes, ${rateOf(outputBytes)}`;
    rows.push(['Formula of the rules, input', `${input}, ${rateOf(inputBytes)}`]);
    rows.push(['Formula of the rules, output', output]);
  }
  if (wire === undefined) rows.push(['Measured on the wire', 'not counted: no network_audit.json']);
  else {
    const { payloadBytes, samples, responseBytes, responses } = wire;
    const input = `${bytesPerSample(payloadBytes, samples)} (${payloadBytes} bytes, ${samples} samples)`;
    const output = `${bytesPerSample(responseBytes, Math.max(1, responses))} (${responseBytes} bytes)`;
    rows.push(['Measured on the wire, input', input], ['Measured on the wire, output', output]);
  }
  return [
    ...rows,
    ['**Required into the SUT**', ingress === undefined ? 'not known' : formatRate(ingress)],
    ['**Required out of the SUT**', egress === undefined ? 'above 0' : formatRate(egress)],
  ];
}

/**
 * Bytes per sample as in the formula; the mean of payloads of different lengths may be fractional.
 */
function bytesPerSample(bytes: number, samples: number): string {
  const mean = bytes / samples;
  const isWhole = Number.isInteger(mean);
  return `${isWhole ? '' : 'on average '}${Math.round(mean)} bytes per sample`;
}

function marginText(
  network: NetworkEntry | undefined,
  what: string,
  { ingress, egress, wire }: BandwidthFigures,
  shortfalls: string[],
): string {
  if (network === undefined || ingress === undefined) return '';
  const ways = { 'into the SUT': ingress, 'out of the SUT': egress };
  const rows = endRates(network, wire).flatMap(({ end, bitsPerSecond, share }) =>
    Object.entries(ways).flatMap(([way, needed]) => {
      if (needed === undefined) return [];
      const required = needed * share;
      const [wanted, there] = [formatRate(required), formatRate(bitsPerSecond)];
      const isShort = required > bitsPerSecond;
      if (isShort) shortfalls.push(`${what}: ${end} needs ${wanted} ${way} and has ${there}`);
      const margin = isShort ? '**too little**' : marginOf(bitsPerSecond, required);
      const percent = `${Number((share * 100).toFixed(1))} %`;
      return [[end, way, percent, wanted, there, margin]];
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
