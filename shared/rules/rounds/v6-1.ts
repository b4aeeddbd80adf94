import { MLPERF_CONF_V60 } from './v6-0.ts';

const SEEDS: ReadonlyMap<string, string> = new Map([
  ['qsl_rng_seed', '2085463073848966840'],
  ['sample_index_rng_seed', '2747215439041700203'],
  ['schedule_rng_seed', '16159082839903944936'],
]);

/** Keys and values of mlperf.conf of round v6.1: those of v6.0 with other seeds. */
export const MLPERF_CONF_V61: string = MLPERF_CONF_V60.replace(
  /^(\*\.\*\.(\w+) = ).*$/gm,
  (line, head: string, key: string) => (SEEDS.has(key) ? `${head}${SEEDS.get(key)}` : line),
);
