import type {
  SystemFacts as WireFacts,
  SystemFacts__Output as WireFactsOutput,
} from '../../proto/gen/mlperf/network/v1/SystemFacts.ts';
import { type SystemFacts, systemFactsSchema } from './system-facts.ts';

/** Facts as a message: what is unknown is left out, as the protocol wants it. */
export function factsToWire(facts: SystemFacts): WireFacts {
  return withoutNulls(facts) as WireFacts;
}

/**
 * Facts of a message: an empty text and 0 are unknown.
 * @throws ZodError where another maker's node sends what cannot be, such as control characters in a name
 */
export function factsFromWire(message: WireFactsOutput | null): SystemFacts {
  const { enclosure, processor, memory, software, network, ...rest } = message ?? NOTHING;
  const ecc = { state: '', how: '' };
  return systemFactsSchema.parse(
    emptyAsNull({
      ...rest,
      accelerators: rest.accelerators.map((one) => ({ ...one, ecc: one.ecc ?? ecc })),
      enclosure: { ...NO_ENCLOSURE, ...enclosure },
      processor: { ...NO_PROCESSOR, ...processor },
      memory: { totalBytes: 0, modules: [], modulesHow: '', ...memory, ecc: memory?.ecc ?? ecc },
      software: { operatingSystem: '', kernel: '', components: [], ...software },
      network: { congestionControl: '', interfaces: [], ...network },
    }),
  );
}

// A part that a node leaves out is unknown as a whole.
const NOTHING: WireFactsOutput = {
  hostname: '',
  bootId: '',
  enclosure: null,
  processor: null,
  memory: null,
  storage: [],
  accelerators: [],
  software: null,
  network: null,
  acceleratorsHow: '',
};
const NO_ENCLOSURE: NonNullable<WireFactsOutput['enclosure']> = {
  vendor: '',
  product: '',
  virtualMachine: '',
  virtualMachineHow: '',
  container: '',
  containerHow: '',
  cpuLimit: 0,
  memoryLimitBytes: 0,
};
const NO_PROCESSOR: NonNullable<WireFactsOutput['processor']> = {
  model: '',
  architecture: '',
  sockets: 0,
  cores: 0,
  threads: 0,
  numaNodes: 0,
  baseMhz: 0,
  maxMhz: 0,
  frequencyHow: '',
  caches: [],
};

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(known.map(([key, one]) => [key, withoutNulls(one)]));
}

function emptyAsNull(value: unknown): unknown {
  if (value === '' || value === 0 || value === undefined) return null;
  if (Array.isArray(value)) return value.map(emptyAsNull);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, emptyAsNull(one)]));
}
