import { isTruthy } from '../../../loadgen/logs/read/detail-log.ts';
import type { SubmissionModel } from '../../rules/submission-model.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { isStrict, type ResultSite } from '../read/result-site.ts';
import type { RunLog } from '../read/run-log.ts';

/** Share of the queries that a Server bound holds for. */
const SERVER_PERCENTILE = 0.99;

const P99 = 'result_99.00_percentile_latency_ns';
const TTFT_P99 = 'result_first_token_99.00_percentile_latency_ns';
const TPOT_P99 = 'result_time_per_output_token_99.00_percentile_ns';

/** Bounds on latencies and what was measured, where the scenario has a bound. */
export function checkLatencies(
  log: RunLog,
  site: ResultSite,
  model: SubmissionModel,
  round: SubmissionRound,
): void {
  const { scenario, measured } = site;
  const isServer = scenario === 'Server' || scenario === 'Interactive';
  if (isServer) {
    checkBound(log, site, model);
  }
  if (measured !== 'Offline') checkEarlyStopping(log, round);
  if (model.tokenLatencies === undefined) return;
  if (log.boolean('requested_use_token_latencies') !== true) {
    const key = 'requested_use_token_latencies';
    log.tellOf('token-latencies-off', key, `${key} is not true.`);
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
      const text = `${key} is ${seen} ns; below ${boundNs} ns.`;
      log.tellOf('token-latency-above-bound', key, text);
    }
  }
}

function checkBound(log: RunLog, site: ResultSite, { serverLatencyNs }: SubmissionModel): void {
  const key = 'effective_target_latency_ns';
  const bound = serverLatencyNs === undefined ? log.optionalNumber(key) : log.number(key);
  if (bound === undefined) return;
  if (serverLatencyNs !== undefined && bound > serverLatencyNs) {
    const text = `The bound is ${bound} ns; ${serverLatencyNs} ns at most.`;
    log.tellOf('latency-bound-loose', key, text);
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

/** The tool of v4.1 prints an error and goes on: what is missing there is no fault, "false" beside VALID is. */
function checkEarlyStopping(log: RunLog, round: SubmissionRound): void {
  const record = log.record('early_stopping_met');
  if (record === undefined ? round === 'v4.1' : isTruthy(record.value)) return;
  const seen = record === undefined ? 'missing' : String(record.value);
  log.tellOf('early-stopping-not-met', 'early_stopping_met', `early_stopping_met is ${seen}.`);
}
