import { z } from 'zod';
import type {
  SystemFacts as WireFacts,
  SystemFacts__Output as WireFactsOutput,
} from '../../proto/gen/mlperf/network/v1/SystemFacts.ts';
import type {
  TuningFacts as WireTuning,
  TuningFacts__Output as WireTuningOutput,
} from '../../proto/gen/mlperf/network/v1/TuningFacts.ts';
import { type SystemFacts, systemFactsSchema } from './system-facts.ts';
import { type TuningFacts, tuningFactsSchema } from './tuning-facts.ts';

/** Facts as a message: what is unknown is left out, as the protocol wants it. */
export function factsToWire(facts: SystemFacts): WireFacts {
  return withoutNulls(facts) as WireFacts;
}

/**
 * Facts of a message: an empty text and 0 are unknown, and so is all of a part that a node leaves out.
 * @throws ZodError where another maker's node sends what cannot be, such as control characters in a name
 */
export function factsFromWire(message: WireFactsOutput | null): SystemFacts {
  return systemFactsSchema.parse(known(systemFactsSchema, message));
}

/** Facts as a message: what is unknown is left out. */
export function tuningToWire(facts: TuningFacts): WireTuning {
  return withoutNulls(facts) as WireTuning;
}

/** Fields in which 0 is a value; absent if unknown. */
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
  const facts = known(tuningFactsSchema, message) as object;
  const counted = COUNTS_FROM_0.map((key) => [key, message[key] ?? null]);
  // The protocol cannot tell "no" from "unknown" of the balancer.
  const hasIrqBalancer = message.hasIrqBalancer || null;
  return tuningFactsSchema.parse({ ...facts, ...Object.fromEntries(counted), hasIrqBalancer });
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const there = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(there.map(([key, one]) => [key, withoutNulls(one)]));
}

/** A value of a message in the form of a schema: null for the protocol's mark of an unknown value. */
function known(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodObject) {
    const fields = Object(value) as Record<string, unknown>;
    const keys = Object.entries(schema.shape);
    return Object.fromEntries(keys.map(([key, one]) => [key, known(one, fields[key])]));
  }
  if (schema instanceof z.ZodArray) {
    return Array.isArray(value) ? value.map((one) => known(schema.element, one)) : [];
  }
  return value === '' || value === 0 || value === undefined ? null : value;
}
