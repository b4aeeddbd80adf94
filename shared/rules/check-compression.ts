import { configInvalid, MlperfError } from '../base/errors/mlperf-error.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { PayloadEncoding } from '../domain/system-under-test.ts';
import {
  type CompressionRule,
  compressionRule,
  perSampleRule,
  RESPONSE_RULE,
} from './compression-rules.ts';
import type { Round } from './rounds/rounds.ts';

/** Unit of compression: every sample alone, or a whole query. */
export const COMPRESSION_SCOPES = ['sample', 'query'] as const;

/** One of {@link COMPRESSION_SCOPES}. */
export type CompressionScope = (typeof COMPRESSION_SCOPES)[number];

/** Compression of a run, to be checked. */
export interface CompressionPlan {
  readonly benchmark: string;
  readonly round: Round;
  readonly scenario: Scenario;
  /** Encoding of the samples; the compression is around the form. */
  readonly encoding: PayloadEncoding;
  readonly scope: CompressionScope;
  /** Compressions of responses that the run would read, `identity` among them or not. */
  readonly responseCompressions: readonly string[];
  /** True where a query can have more than one sample: coalesced, MultiStream, Offline. */
  readonly hasLargeQueries: boolean;
}

/** Forms that are the data set's own compression. */
const ORIGINAL_FORMS: readonly string[] = ['jpeg'];

/**
 * Every way in which a plan breaks the rules, in words and with the rule's text; empty if the rules
 * allow the plan. Rule: inference_rules, Network division, benchmarks and QSL
 * preprocessing (compression-rules.ts).
 */
export function compressionBreaches(plan: CompressionPlan): string[] {
  const breaches: string[] = [];
  const { benchmark, round, encoding, scope, responseCompressions } = plan;
  const rule = compressionRule(benchmark, round);
  const what = `benchmark ${benchmark} in round ${round}`;
  const request = requestBreach(encoding, rule);
  if (request !== undefined) breaches.push(`${what}: ${request}; ${quote(rule)}`);
  if (scope === 'query' && !allowsPerQuery(plan, rule)) {
    const why = plan.hasLargeQueries ? 'queries of more than one sample' : plan.scenario;
    breaches.push(
      `${what}: queries compressed as a whole, with ${why}; the rule: "${perSampleRule(round)}"`,
    );
  }
  const compressed = responseCompressions.filter((name) => name !== 'identity');
  if (compressed.length > 0 && rule?.losslessResponses !== true) {
    const names = compressed.join(', ');
    breaches.push(
      `${what}: responses compressed by ${names}; the rules: "${RESPONSE_RULE}" and ${quote(rule)}`,
    );
  }
  return breaches;
}

/**
 * Refuses what the rules forbid, unless the run is in the open division.
 * @throws MlperfError `ERR_RULE` with the rule's text; `ERR_CONFIG_INVALID` for what no division
 *   can do.
 */
export function checkCompression(plan: CompressionPlan, division: 'network' | 'open'): void {
  if (division === 'network') {
    const breaches = compressionBreaches(plan);
    if (breaches.length > 0) {
      const advice = 'choose another compression, or --division open, which marks every log';
      throw new MlperfError('ERR_RULE', `${breaches.join('; ')} (${advice})`);
    }
  }
  if (plan.scope !== 'query') return;
  if (plan.encoding.compression === 'identity') {
    const message = '--compression-scope query has no effect without --compression';
    throw configInvalid(message);
  }
  if (plan.hasLargeQueries) {
    throw configInvalid(
      `--compression-scope query: only queries of one sample can be prepared before the run; ` +
        `this run of ${plan.scenario} has queries of several samples, which are not known before a query is issued`,
    );
  }
}

/** Why the rule forbids an encoding; undefined if not. A run may use only one of the options. */
function requestBreach(
  { form, compression }: PayloadEncoding,
  rule: CompressionRule | undefined,
): string | undefined {
  const isOriginal = ORIGINAL_FORMS.includes(form);
  const isLossless = compression !== 'identity';
  if (isOriginal && isLossless) {
    return `samples as ${form} and compressed by ${compression}, which are two of the options`;
  }
  if (isLossless && rule?.requests.includes('lossless') !== true) {
    return `samples compressed by ${compression}`;
  }
  if (isOriginal && rule?.requests.includes('original') !== true) return `samples as ${form}`;
  return undefined;
}

function allowsPerQuery(plan: CompressionPlan, rule: CompressionRule | undefined): boolean {
  return rule?.perQueryInServer === true && plan.scenario === 'Server' && !plan.hasLargeQueries;
}

function quote(rule: CompressionRule | undefined): string {
  if (rule === undefined) return "the round's table of compression options has no row for it";
  return `the rule: "${rule.text}"`;
}
