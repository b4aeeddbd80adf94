import type { NetworkAudit } from '../../../observe/audit/network-audit.ts';
import { bandwidthFormula, dtypeBytes } from '../../../samples/bandwidth/bandwidth-formulas.ts';
import { formatRate, parseRate } from '../../../samples/bandwidth/link-rate.ts';
import { sampleRateKey } from '../../rules/result-metric.ts';
import { TODO_MARK } from '../../tree/system-fields.ts';
import type { CheckContext } from '../read/check-context.ts';
import { countOf, textOf } from '../read/description-values.ts';
import type { ResultSite } from '../read/result-site.ts';
import type { RunLog } from '../read/run-log.ts';

/** A number with a prefix somewhere in a text: `25G`, `100 Gbit/s`, `10GbE`. */
const RATE = /\d+(?:\.\d+)?\s*[kmgt]\s*(?:bits?\/s(?:ec)?|b\/s|bps|bits?|be|b)?(?![a-z])/gi;

/** A count at the front of a text: `8 ConnectX-7 cards`, `2x 100GbE`. */
const LEADING_COUNT = /^\s*(\d{1,6})\s*(?:x\b|[×,;(]|\s|$)/i;

/** What both ends counted of a run; null where the logs' LoadGen counts nothing. */
export interface WireBytes {
  readonly payload: number;
  readonly response: number;
  /** Share of the samples that the busiest node took, from 0 to 1. */
  readonly largestShare: number;
}

/** Bytes of one sample on the wire, each way; undefined where nobody counted them. */
export function wireBytesOf(audit: NetworkAudit | undefined): WireBytes | undefined {
  const ours = (audit?.nodes ?? []).map((node) => node.ours);
  const samples = ours.reduce((sum, { sampleCount }) => sum + sampleCount, 0);
  if (samples === 0) return undefined;
  const payload = ours.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0);
  const response = ours.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
  const most = Math.max(...ours.map(({ sampleCount }) => sampleCount));
  return {
    payload: payload / samples,
    response: response / samples,
    largestShare: most / samples,
  };
}

/**
 * Holds what a result needs against the stated links: rate times number of cards, at the LoadGen node, and at the SUT
 * node that has most to do. The formulas are
 * adjusted to the bytes that were counted, as the rules ask.
 */
export function checkBandwidth(
  context: CheckContext,
  site: ResultSite,
  { log, wire }: { log: RunLog; wire: WireBytes | undefined },
): void {
  const { findings, layout } = context;
  const { description, division, submitter, system, scenario } = site;
  if (description === undefined) return;
  const path = layout.system(division, submitter, system);
  const rate = slowestRate(textOf(description['network_rate']));
  const cards = ['number_nic_loadgen', 'number_nic_sut'].map((key) => cardsOf(description[key]));
  const [ofLoadgen, ofSut] = cards;
  if (rate === undefined || !ofLoadgen || !ofSut) {
    tellUnknown(context, path, description);
    return;
  }
  const key = sampleRateKey(scenario);
  const throughput = key === undefined ? undefined : log.optionalNumber(key);
  const bytes = bytesOfSample(site, wire);
  if (throughput === undefined || bytes === undefined) return;
  const all = throughput * Math.max(bytes.payload, bytes.response) * 8;
  for (const [end, cards, share] of [
    ['the LoadGen node', ofLoadgen, 1],
    ['a SUT node', ofSut, bytes.largestShare],
  ] as const) {
    const needed = all * share;
    if (needed <= rate * cards) continue;
    const text =
      `${site.modelFolder} ${scenario} needs ${formatRate(needed)} at ${end}, ` +
      `and ${cards} x ${formatRate(rate)} are stated.`;
    findings.add('bandwidth-too-small', path, text);
    return;
  }
}

/** Where the description is empty or not finished, other rules have told it. */
function tellUnknown(
  { findings }: CheckContext,
  path: string,
  description: Readonly<Record<string, unknown>>,
): void {
  const keys = ['network_rate', 'number_nic_loadgen', 'number_nic_sut'];
  const values = keys.map((key) => [key, textOf(description[key])] as const);
  if (values.some(([, value]) => value.trim() === '' || value.startsWith(TODO_MARK))) return;
  const text = values.map(([key, value]) => `${key} is "${value}"`).join(', ');
  findings.add('bandwidth-unknown', path, `${text}.`);
}

function cardsOf(value: unknown): number | undefined {
  const digits = LEADING_COUNT.exec(textOf(value))?.[1];
  return digits === undefined ? countOf(value) : Number(digits);
}

function slowestRate(text: string): number | undefined {
  const rates = (text.match(RATE) ?? []).flatMap((word) => parseRate(word) ?? []);
  return rates.length === 0 ? undefined : Math.min(...rates);
}

/** Counted bytes; else the rules' formula, with elements of four bytes as the reference models take. */
function bytesOfSample(
  { model, description }: ResultSite,
  wire: WireBytes | undefined,
): WireBytes | undefined {
  if (wire !== undefined) return wire;
  const formula = model === undefined ? undefined : bandwidthFormula(model.benchmark);
  if (formula === undefined) return undefined;
  const bytes = dtypeBytes('fp32') ?? 4;
  return {
    payload: formula.inputElements * bytes,
    response: (formula.outputElements ?? 0) * bytes,
    largestShare: 1 / (countOf(description?.['number_of_nodes']) || 1),
  };
}
