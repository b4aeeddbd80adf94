import { expect, it } from 'vitest';
import { z } from 'zod';
import type { SystemFacts__Output } from '../../../../proto/gen/mlperf/network/v1/SystemFacts.ts';
import type { TuningFacts__Output } from '../../../../proto/gen/mlperf/network/v1/TuningFacts.ts';
import { fromWire, toWire } from '../../../../shared/host/fact-kinds.ts';
import type { MachineSource } from '../../../../shared/host/machine-source.ts';
import {
  gatherSystemFacts,
  type SystemFacts,
  systemFactsSchema,
} from '../../../../shared/host/system-facts.ts';
import { type TuningFacts, tuningFactsSchema } from '../../../../shared/host/tuning-facts.ts';
import { SUT_SERVICE } from '../../../../shared/wire/sut-contract.ts';
import { suiteFolder } from '../../../scenes/host/folders.ts';
import {
  armTree,
  containerTree,
  laptopTree,
  plantMachine,
  serverTree,
} from '../../../scenes/host/machines.ts';

// Goal: what a node reads arrives as it was, unknown as unknown, and what later or careless nodes
// send does no harm. Method: through the bytes of the real message.

const components = [{ name: 'node', version: '20.20.2' }];

const factsFromWire = (message: SystemFacts__Output | null): SystemFacts =>
  fromWire(systemFactsSchema, message);

const DESCRIBE_SYSTEM = SUT_SERVICE['DescribeSystem'] as {
  responseSerialize(value: object): Buffer;
  responseDeserialize(bytes: Buffer): { facts: SystemFacts__Output; tuning: TuningFacts__Output };
};

/** Through the wire and back. */
function sent(facts: SystemFacts): SystemFacts__Output {
  const bytes = DESCRIBE_SYSTEM.responseSerialize({ facts: toWire(facts) });
  return DESCRIBE_SYSTEM.responseDeserialize(bytes).facts;
}

/** A value that a kind of fact takes as it is: every fact of a table is there. */
function filled(kind: unknown): unknown {
  if (kind instanceof z.ZodObject) {
    const entries = Object.entries(kind.shape).map(([key, one]) => [key, filled(one)]);
    return Object.fromEntries(entries);
  }
  if (kind instanceof z.ZodArray) return [filled(kind.element)];
  const values = ['on', 'hardware', 'Ethernet', 'NVMe SSD', 1, true];
  return values.find((value) => (kind as z.ZodType).safeParse(value).data === value);
}

const server = plantMachine(serverTree(), suiteFolder());

it.each<[string, () => MachineSource]>([
  ['a server', () => server],
  ['a laptop', () => plantMachine(laptopTree())],
  ['a container', () => plantMachine(containerTree())],
  ['an ARM machine', () => plantMachine(armTree())],
  ['nothing readable', () => plantMachine({ files: {} })],
])('the facts of %s arrive as they were', async (_case, source) => {
  const facts = await gatherSystemFacts(source(), components);
  expect(factsFromWire(sent(facts))).toEqual(facts);
});

it('every fact of the tables has its field of the message', () => {
  const facts = filled(systemFactsSchema) as SystemFacts;
  const tuning = filled(tuningFactsSchema) as TuningFacts;
  expect(systemFactsSchema.parse(facts)).toEqual(facts);
  const bytes = DESCRIBE_SYSTEM.responseSerialize({ facts: toWire(facts), tuning: toWire(tuning) });
  const message = DESCRIBE_SYSTEM.responseDeserialize(bytes);
  expect(factsFromWire(message.facts)).toEqual(facts);
  expect(fromWire(tuningFactsSchema, message.tuning)).toEqual(tuning);
});

it('takes parts that are left out, and words of later versions, for unknown', async () => {
  const facts = await gatherSystemFacts(server, components);
  const message = sent(facts);
  const [first, ...others] = message.network?.interfaces ?? [];
  const interfaces = [{ ...first, fabric: 'Ultra Ethernet', backing: 'optics' }, ...others];
  const read = factsFromWire({
    ...message,
    processor: null,
    enclosure: null,
    network: { congestionControl: '', interfaces } as SystemFacts__Output['network'],
  });
  expect(read.network.interfaces[0]).toMatchObject({ name: 'bond0', fabric: null, backing: null });
  expect(read.processor).toMatchObject({ model: null, cores: null, caches: [] });
  expect(read.memory).toEqual(facts.memory);
  expect(factsFromWire(null).memory.ecc).toEqual({ state: null, how: null });
});

it.each([
  ['control characters', { hostname: 'a\nb' }],
  ['a text without end', { hostname: 'a'.repeat(5000) }],
])('refuses %s', async (_case, wrong) => {
  const message = sent(await gatherSystemFacts(plantMachine({ files: {} }), components));
  expect(() => factsFromWire({ ...message, ...wrong })).toThrow(/hostname/);
});
