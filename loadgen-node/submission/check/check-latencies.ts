import type { SubmissionModel } from '../rules/submission-model.ts';
import type { FindingId } from './finding-rules.ts';
import { isStrict, type ResultSite } from './result-site.ts';
import type { RunLog } from './run-log.ts';

/** Share of the queries that a Server bound holds for. */
const SERVER_PERCENTILE = 0.99;

const P99 = 'result_99.00_percentile_latency_ns';
const TTFT_P99 = 'result_first_token_99.00_percentile_latency_ns';
const TPOT_P99 = 'result_time_per_output_token_99.00_percentile_ns';

/** Bounds on latencies and what was measured, where the scenario has a bound. */
export function checkLatencies(log: RunLog, site: ResultSite, model: SubmissionModel): void {
  const { scenario } = site;
  const isServer = scenario === 'Server' || scenario === 'Interactive';
  if (isServer) {
    checkBound(log, site, model);
    checkEarlyStopping(log);
  }
  if (model.tokenLatencies === undefined) return;
  if (log.boolean('requested_use_token_latencies') !== true) {
    const key = 'requested_use_token_latencies';
    log.tellOf(inDivision(site, 'token-latencies-off'), key, `${key} is not true.`);
    return;
  }
  const bounds = model.tokenLatencies[scenario];
  if (bounds === undefined) return;
  for (const [key, boundNs] of [
    [TTFT_P99, bounds.ttftNs],
    [TPOT_P99, bounds.tpotNs],
  ] as const) {
    const seen = log.number(key);
    // Strictly below, as the official tools compare.
    if (seen !== undefined && seen >= boundNs) {
      const id = inDivision(site, 'token-latency-above-bound');
      log.tellOf(id, key, `${key} is ${seen} ns; below ${boundNs} ns.`);
    }
  }
}

/** Open has no bounds; that the official tools refuse some of its results all the same, is told. */
function inDivision(site: ResultSite, id: FindingId): FindingId {
  return isStrict(site) ? id : 'open-judged-by-tools';
}

function checkBound(log: RunLog, site: ResultSite, { serverLatencyNs }: SubmissionModel): void {
  const key = 'effective_target_latency_ns';
  const bound = log.number(key);
  if (bound === undefined) return;
  if (serverLatencyNs !== undefined && bound > serverLatencyNs) {
    const text = `The bound is ${bound} ns; ${serverLatencyNs} ns at most.`;
    log.tellOf(inDivision(site, 'latency-bound-loose'), key, text);
  }
  const percentileKey = 'effective_target_latency_percentile';
  const percentile = log.optionalNumber(percentileKey);
  if (isStrict(site) && percentile !== undefined && percentile < SERVER_PERCENTILE) {
    const text = `The bound holds for a share of ${percentile}; ${SERVER_PERCENTILE} is asked for.`;
    log.tellOf('percentile-low', percentileKey, text);
  }
  const p99 = log.optionalNumber(P99);
  // Language models have no bound on a query as a whole: theirs is 0.
  if (p99 !== undefined && bound > 0 && p99 > bound) {
    log.tellOf('p99-above-bound', P99, `It is ${p99} ns, and the bound ${bound} ns.`);
  }
}

function checkEarlyStopping(log: RunLog): void {
  if (log.boolean('early_stopping_met') === true) return;
  const record = log.record('early_stopping_met');
  const seen = record === undefined ? 'missing' : String(record.value);
  log.tellOf('early-stopping-not-met', 'early_stopping_met', `early_stopping_met is ${seen}.`);
}
