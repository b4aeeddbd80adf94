import {
  bandwidthFormula,
  dtypeBytes,
  formatRate,
  parseRate,
} from '../../../samples/bandwidth-formulas.ts';
import { sampleRateKey, wireCounts } from '../../rules/submission-model.ts';
import { isTodo } from '../../tree/system-fields.ts';
import { countOf, isBlank, textOf } from '../read/description-values.ts';
import type { Answer, Facts, JsonObject } from '../read/sites.ts';

/** A number with a prefix in a text: `25G`, `100 Gbit/s`, `10GbE`. */
const RATE = /\d+(?:\.\d+)?\s*[kmgt]\s*(?:bits?\/s(?:ec)?|b\/s|bps|bits?|be|b)?(?![a-z])/gi;

/** A count at the start of a text: `8 ConnectX-7 cards`, `2x 100GbE`. */
const LEADING_COUNT = /^\s*(\d{1,6})\s*(?:x\b|[×,;(]|\s|$)/i;

/** Links stated in a description: bit/s of the slowest one, and cards at both ends. */
function linksOf(description: JsonObject) {
  const stated = textOf(description['network_rate']).match(RATE) ?? [];
  const rates = stated.flatMap((word) => parseRate(word) ?? []);
  const ofLoadgen = cardsOf(description['number_nic_loadgen']);
  const ofSut = cardsOf(description['number_nic_sut']);
  if (rates.length === 0 || !ofLoadgen || !ofSut) return undefined;
  return { rate: Math.min(...rates), ofLoadgen, ofSut };
}

/**
 * Compares the bandwidth that a result needs with the stated links: rate x number of cards, at the
 * LoadGen node and at the busiest SUT node. The formulas are adjusted to the counted bytes, as the
 * rules require.
 */
export function bandwidthTooSmall(site: Facts['read']): Answer {
  const { description, runs, layout, division, submitter, system, scenario } = site;
  const log = runs.get('performance');
  const links = description && linksOf(description);
  const key = sampleRateKey(scenario);
  if (division !== 'network' || links === undefined || key === undefined) return undefined;
  const throughput = log?.number(key);
  const bytes = bytesOfSample(site);
  if (throughput === undefined || bytes === undefined) return undefined;
  const all = throughput * Math.max(bytes.payload, bytes.response) * 8;
  const ends = [
    { end: 'the LoadGen node', cards: links.ofLoadgen, needed: all },
    { end: 'a SUT node', cards: links.ofSut, needed: all * bytes.largestShare },
  ];
  const short = ends.find(({ cards, needed }) => needed > links.rate * cards);
  return (
    short && {
      file: layout.system(division, submitter, system),
      text:
        `${site.modelFolder} ${scenario} needs ${formatRate(short.needed)} at ${short.end}, ` +
        `and ${short.cards} x ${formatRate(links.rate)} are stated.`,
    }
  );
}

/** If the description is empty or unfinished, other rules report it. */
export function bandwidthUnknown(site: Facts['read']): Answer {
  const { description, division, submitter, system, layout, runs } = site;
  if (division !== 'network' || description === undefined || !runs.has('performance')) return false;
  const keys = ['network_rate', 'number_nic_loadgen', 'number_nic_sut'];
  const values = keys.map((key) => [key, textOf(description[key])] as const);
  const isUnfinished = values.some(([, value]) => isBlank(value) || isTodo(value));
  if (linksOf(description) !== undefined || isUnfinished) return undefined;
  const text = values.map(([key, value]) => `${key} is "${value}"`).join(', ');
  return { file: layout.system(division, submitter, system), text: `${text}.` };
}

function cardsOf(value: unknown): number | undefined {
  const digits = LEADING_COUNT.exec(textOf(value))?.[1];
  return digits === undefined ? countOf(value) : Number(digits);
}

/**
 * Counted bytes of a sample; otherwise by the rules' formula, with elements of four bytes as in the
 * reference models.
 */
function bytesOfSample({ model, description, audits }: Facts['read']) {
  const wire = wireCounts(audits.get('performance'));
  if (wire !== undefined) {
    const { samples, payloadBytes, responseBytes, largestShare } = wire;
    return { payload: payloadBytes / samples, response: responseBytes / samples, largestShare };
  }
  const formula = model && bandwidthFormula(model.benchmark);
  if (formula === undefined) return undefined;
  const bytes = dtypeBytes('fp32') ?? 4;
  return {
    payload: formula.inputElements * bytes,
    response: (formula.outputElements ?? 0) * bytes,
    largestShare: 1 / (countOf(description?.['number_of_nodes']) || 1),
  };
}
