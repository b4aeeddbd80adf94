import { expect, it } from 'vitest';
import type { SystemFacts__Output } from '../../../../proto/gen/mlperf/network/v1/SystemFacts.ts';
import { fromWire, toWire } from '../../../../shared/host/fact-kinds.ts';
import type { MachineSource } from '../../../../shared/host/machine-source.ts';
import {
  gatherSystemFacts,
  type SystemFacts,
  systemFactsSchema,
} from '../../../../shared/host/system-facts.ts';
import { SUT_SERVICE } from '../../../../shared/wire/sut-contract.ts';
import { suiteFolder } from '../../../scenes/host/folders.ts';
import {
  armTree,
  containerTree,
  laptopTree,
  plantMachine,
  serverTree,
} from '../../../scenes/host/machines.ts';

// Goal: what a node reads arrives as it was, unknown as unknown, and what later or careless nodes send does no harm.
// Method: through the bytes of the real message.

const components = [{ name: 'node', version: '20.20.2' }];

const factsFromWire = (message: SystemFacts__Output | null): SystemFacts =>
  fromWire(systemFactsSchema, message);

/** Through the wire and back. */
function sent(facts: SystemFacts): SystemFacts__Output {
  const { responseSerialize, responseDeserialize } = SUT_SERVICE['DescribeSystem'] as {
    responseSerialize(value: object): Buffer;
    responseDeserialize(bytes: Buffer): { facts: SystemFacts__Output };
  };
  return responseDeserialize(responseSerialize({ facts: toWire(facts) })).facts;
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
