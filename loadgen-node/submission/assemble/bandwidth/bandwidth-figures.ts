import {
  type BandwidthFormula,
  bandwidthFormula,
  dtypeBytes,
} from '../../../samples/bandwidth/bandwidth-formulas.ts';
import { parseRate } from '../../../samples/bandwidth/link-rate.ts';
import type { NetworkEntry } from '../config/config-types.ts';
import { LOADGEN_END, linksOf } from '../diagram/topology.ts';
import { throughputOf } from '../documents/result-in-words.ts';
import type { PlannedImplementation, PlannedResult } from '../plan/plan-types.ts';

/** What both ends counted of a run. */
export interface WireCounts {
  readonly samples: number;
  readonly payloadBytes: number;
  readonly responses: number;
  readonly responseBytes: number;
  /** Share of the samples that the busiest node took, from 0 to 1. */
  readonly largestShare: number;
}

/** Bandwidth that a result asks for. Bits per second; bytes are of one sample. */
export interface BandwidthFigures {
  readonly throughput: number | undefined;
  readonly formula: BandwidthFormula | undefined;
  /** Element size that the formula was given, and the word that it came from. */
  readonly dtype: { readonly word: string; readonly bytes: number } | undefined;
  readonly formulaInputBytes: number | undefined;
  readonly formulaOutputBytes: number | undefined;
  readonly wire: WireCounts | undefined;
  /** What is required: by the bytes that were measured, else by the formula. */
  readonly ingress: number | undefined;
  readonly egress: number | undefined;
}

/** Works out what a result needs. Rule: the formulas are adjusted to what really travels. */
export function bandwidthFigures(
  result: PlannedResult,
  implementation: PlannedImplementation,
): BandwidthFigures {
  const { runs, entry, model, scenario } = result;
  const throughput = throughputOf(runs.performance, entry.inferred_from ?? scenario);
  const formula = model === undefined ? undefined : bandwidthFormula(model.benchmark);
  const dtype = dtypeOf(result, implementation);
  const bytesOf = (elements: number | undefined): number | undefined =>
    elements === undefined || dtype === undefined ? undefined : elements * dtype.bytes;
  const formulaInputBytes = bytesOf(formula?.inputElements);
  const formulaOutputBytes = bytesOf(formula?.outputElements);
  const wire = wireCounts(result);
  const inputBytes = wire === undefined ? formulaInputBytes : wire.payloadBytes / wire.samples;
  const outputBytes =
    wire === undefined || wire.responses === 0
      ? formulaOutputBytes
      : wire.responseBytes / wire.responses;
  const bits = (bytes: number | undefined): number | undefined =>
    bytes === undefined || throughput === undefined ? undefined : bytes * throughput * 8;
  return {
    throughput,
    formula,
    dtype,
    formulaInputBytes,
    formulaOutputBytes,
    wire,
    ingress: bits(inputBytes),
    egress: bits(outputBytes),
  };
}

/** The form in which samples travel, where it is a type of data; else what the submitter calls the input. */
function dtypeOf(
  { runs }: PlannedResult,
  { entry }: PlannedImplementation,
): BandwidthFigures['dtype'] {
  const form = runs.performance.audit?.run.encoding.form;
  const words = [
    ...(form === undefined ? [] : [form]),
    ...entry.input_data_types.split(/[\s,;/]+/),
  ];
  for (const word of words) {
    const bytes = dtypeBytes(word);
    if (bytes !== undefined) return { word, bytes };
  }
  return undefined;
}

function wireCounts({ runs }: PlannedResult): WireCounts | undefined {
  const ours = (runs.performance.audit?.nodes ?? []).map((node) => node.ours);
  const sum = (key: 'sampleCount' | 'payloadBytes' | 'completedCount' | 'responseBytes'): number =>
    ours.reduce((total, counts) => total + counts[key], 0);
  const samples = sum('sampleCount');
  if (samples === 0) return undefined;
  return {
    samples,
    payloadBytes: sum('payloadBytes'),
    responses: sum('completedCount'),
    responseBytes: sum('responseBytes'),
    largestShare: Math.max(...ours.map(({ sampleCount }) => sampleCount)) / samples,
  };
}

/** What the links of one end carry together. */
export interface EndRate {
  readonly end: string;
  readonly linkCount: number;
  readonly bitsPerSecond: number;
  /** Share of the load that passes here, from 0 to 1. */
  readonly share: number;
}

/** Link rate times number of links at the LoadGen node and at each SUT node. */
export function endRates(network: NetworkEntry, wire: WireCounts | undefined): EndRate[] {
  const links = linksOf(network);
  const share = wire?.largestShare ?? 1 / network.sut_nodes.length;
  return [LOADGEN_END, ...network.sut_nodes].map((end) => {
    const own = links.filter(({ from, to }) => from === end || to === end);
    return {
      end,
      linkCount: own.reduce((total, { count }) => total + count, 0),
      bitsPerSecond: own.reduce(
        (total, link) => total + link.count * (parseRate(link.rate) ?? 0),
        0,
      ),
      share: end === LOADGEN_END ? 1 : share,
    };
  });
}
