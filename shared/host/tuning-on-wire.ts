import type {
  TuningFacts as WireTuning,
  TuningFacts__Output as WireTuningOutput,
} from '../../proto/gen/mlperf/network/v1/TuningFacts.ts';
import { type TuningFacts, tuningFactsSchema } from './tuning-facts.ts';

/** Facts as a message: what is unknown is left out. */
export function tuningToWire(facts: TuningFacts): WireTuning {
  const known = Object.entries(facts).filter(([, value]) => value !== null);
  return Object.fromEntries(known) as WireTuning;
}

/** Fields in which 0 is a value, and which are absent where nobody knows it. */
const COUNTS_FROM_0 = [
  'stealShare',
  'busyShare',
  'quotaPeriods',
  'throttledPeriods',
  'isolatedCpus',
  'usableIsolatedCpus',
  'usableInterruptCpus',
  'swapUsedBytes',
  'swappedBytes',
] as const;

/** Facts of a message. @throws ZodError where a node of other make sends what cannot be, such as a share of 2 */
export function tuningFromWire(message: WireTuningOutput): TuningFacts {
  const fields = Object.entries(message).map(([key, value]) => [
    key,
    value === 0 || value === '' || value === false ? null : value,
  ]);
  const counted = COUNTS_FROM_0.map((key) => [key, message[key] ?? null]);
  return tuningFactsSchema.parse(Object.fromEntries([...fields, ...counted]));
}
