import { describe, expect, it } from 'vitest';
import { parseMergeFile } from '../../../../../loadgen-node/submission/system/compose-description.ts';
import { systemWarnings } from '../../../../../loadgen-node/submission/system/system-notes.ts';
import {
  NETWORK_FIELDS,
  SYSTEM_FIELDS,
} from '../../../../../loadgen-node/submission/tree/system-fields.ts';
import {
  container,
  describeSystem,
  factsFile,
  laptop,
  node,
  nothing,
  openKeys,
  server,
  twin,
} from '../../../../scenes/host/described-systems.ts';

// Goal: a description says what was read, marks what was not, and never says more. Method:
// descriptions of machines whose files are known, over links whose ends are known.

describe('a system of servers over a network', () => {
  it('has all fields as texts, with only those open that no machine knows', () => {
    const description = describeSystem(server, [node(3), node(4)]);
    expect(Object.keys(description)).toEqual(
      [...SYSTEM_FIELDS, ...NETWORK_FIELDS].map(({ key }) => key),
    );
    expect(Object.values(description).every((value) => typeof value === 'string')).toBe(true);
    expect(openKeys(description)).toEqual([
      'submitter',
      'status',
      'system_name',
      'host_networking_topology',
      'cooling',
      'network_media',
      'network_topology',
    ]);
  });

  it('says what the nodes are, once for equal ones, in the words of the rules', () => {
    expect(describeSystem(server, [node(3), node(4)])).toMatchObject({
      division: 'network',
      system_type: 'datacenter',
      number_of_nodes: '2',
      host_processor_model_name: 'Intel(R) Xeon(R) Gold 6430 CPU @ 2.10GHz',
      host_processors_per_node: '2',
      host_processor_core_count: '2',
      host_processor_frequency: '2100MHz base, 3400MHz max',
      host_processor_caches:
        'L1d: 4x 48KB, each for 2 threads; L1i: 4x 32KB, each for 2 threads; ' +
        'L2: 4x 2MB, each for 2 threads; L3: 2x 60MB, each for 4 threads',
      host_memory_capacity: '64 GB',
      host_memory_configuration:
        '2x 32 GB Registered-DDR5, ECC enabled (EDAC mode SECDED, S4ECD4ED of 2 modules)',
      host_storage_capacity: '3.84 TB',
      host_storage_type: 'NVMe SSD',
      accelerators_per_node: '0',
      accelerator_model_name: 'N/A',
      framework: 'ONNX Runtime 1.30.0 (onnxruntime-node)',
      operating_system: 'Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64',
      other_software_stack: 'longhaul 0.1.0, Node.js 20.20.2, @grpc/grpc-js 1.14.7',
      host_networking: 'Ethernet',
      host_network_card_count:
        '2x Mellanox Technologies MT2910 Family [ConnectX-7] (driver mlx5_core), 100G',
    });
  });

  it.each([
    ['accelerators_per_node: 2', 'accelerator_model_name'],
    ['accelerator_model_name: ACME X1', 'accelerators_per_node'],
  ])('does not call accelerators absent that a file tells of (%s)', (text, other) => {
    const merged = parseMergeFile('m.yaml', text);
    const description = describeSystem(server, [node(3)], { merged });
    const open = [other, 'accelerator_memory_capacity', 'accelerator_interconnect'];
    for (const key of open) expect(description[key]).toMatch(/^TODO: /);
    expect(description['accelerator_memory_configuration']).toContain('ECC enabled');
    const none = parseMergeFile('m.yaml', 'accelerators_per_node: 0');
    const without = describeSystem(server, [node(3)], { merged: none });
    expect(without['accelerator_model_name']).toBe('N/A');
  });

  it('says what the links are on layers one to four, through the bond to its cards', () => {
    const nodes = [node(3), { ...node(4), dataConnections: 2 }];
    expect(describeSystem(server, nodes)).toMatchObject({
      is_network: 'True',
      network_type: 'Ethernet',
      network_rate: '200G',
      nic_loadgen: 'Mellanox Technologies MT2910 Family [ConnectX-7] (driver mlx5_core)',
      number_nic_loadgen: '2',
      net_software_stack_loadgen:
        'Linux kernel TCP stack v6.1.0-18-amd64 (cubic), HTTP/2 and gRPC of longhaul 0.1.0, Node.js 20.20.2, control calls by grpc-js 1.14.7',
      network_protocol: 'gRPC over HTTP/2 over TCP/IPv4 over Ethernet',
      number_connections: '3',
      number_nic_sut: '4',
    });
    const session = { isTls: true };
    expect(describeSystem(server, [node(3)], { session })['network_protocol']).toBe(
      'gRPC over HTTP/2 over TLS over TCP/IPv4 over Ethernet',
    );
  });

  it('tells nodes apart that differ, and leaves a number open that cannot', () => {
    const processor = { ...server.processor, model: 'Other', sockets: 1, cores: 8 };
    const description = describeSystem(server, [node(3), node(4), node(5, { processor })]);
    expect(description['host_processor_model_name']).toBe(
      'sut-3, sut-4: Intel(R) Xeon(R) Gold 6430 CPU @ 2.10GHz; sut-5: Other',
    );
    expect(description['host_processors_per_node']).toMatch(
      /^TODO: one whole number.*sut-3, sut-4: 2; sut-5: 1/,
    );
    expect(description['host_memory_capacity']).toBe('64 GB');
  });

  it('takes the slower end for the rate, and says which', () => {
    const slow = twin(3);
    const interfaces = slow.network.interfaces.map((nic) => ({ ...nic, speedMbps: 25_000 }));
    const facts = { ...slow, network: { ...slow.network, interfaces } };
    const nodes = [{ ...node(3), facts }];
    expect(describeSystem(server, nodes)['network_rate']).toBe('25G');
    expect(systemWarnings(factsFile(server, nodes), 'datacenter').join()).toContain(
      '200G at the LoadGen node and 25G at the SUT node',
    );
  });

  it('counts two nodes on one machine once, with its cards, and warns', () => {
    const both = [node(3), { ...node(3), name: 'sut-again' }];
    expect(describeSystem(server, both)).toMatchObject({
      number_of_nodes: '1',
      number_nic_sut: '2',
    });
    expect(systemWarnings(factsFile(server, both), 'datacenter')).toContainEqual(
      'SUT nodes sut-3 and sut-again run on one machine, which counts as one node',
    );
  });

  it.each([
    ['the same boot', { facts: 'self', remoteAddress: '10.0.0.2' }],
    ['loopback', { facts: 'twin', remoteAddress: '127.0.0.1' }],
  ])('warns of one machine at both ends: %s', (_case, { facts, remoteAddress }) => {
    const machine = facts === 'self' ? server : twin(3);
    const nodes = [{ ...node(3), facts: machine, remoteAddress }];
    expect(systemWarnings(factsFile(server, nodes), 'datacenter')[0]).toMatch(/are one machine/);
    // The card with the address never sees what is sent to it from its own machine.
    const description = describeSystem(server, nodes);
    expect(description['nic_sut']).toMatch(/^TODO: .*the link stayed within one machine/);
    expect(description['network_rate']).toMatch(/^TODO/);
  });

  it('leaves everything open of a node that told nothing, and says so', () => {
    const nodes = [{ ...node(3), facts: null }];
    const description = describeSystem(server, nodes);
    for (const key of [
      'host_processor_model_name',
      'accelerators_per_node',
      'framework',
      'nic_sut',
    ]) {
      expect(description[key], key).toMatch(/^TODO/);
    }
    expect(description['network_rate']).toContain('bond0 of the LoadGen node has 200G');
    const warnings = systemWarnings(factsFile(server, nodes), 'datacenter').join();
    expect(warnings).toContain('SUT node sut-3 told no facts: it does not want to');
    expect(warnings).toContain('is not known');
  });

  it('does not know a card of which the address was translated on the way', () => {
    const nodes = [{ ...node(3), remoteAddress: '203.0.113.9' }];
    const description = describeSystem(server, nodes);
    expect(description['nic_sut']).toMatch(/^TODO: .*no card .* address 203\.0\.113\.9/);
    expect(description['network_type']).toMatch(/^TODO: .*only Ethernet could be read/);
  });
});

describe('a closed system', () => {
  it('has neither is_network nor the other keys of a network', () => {
    const description = describeSystem(server, []);
    expect(Object.keys(description)).toEqual(SYSTEM_FIELDS.map(({ key }) => key));
    expect(description).toMatchObject({ division: 'closed', number_of_nodes: '1' });
    const closed = describeSystem(server, [node(3)], { division: 'closed' });
    expect(Object.keys(closed)).toEqual(SYSTEM_FIELDS.map(({ key }) => key));
  });

  it('states ECC that is off, and warns in a datacenter only', () => {
    const key = 'host_memory_configuration';
    expect(describeSystem(laptop, [])[key]).toBe(
      '16 GB DDR4 at 2666 MT/s, ECC disabled (DMI type 16 says: None)',
    );
    const facts = factsFile(laptop, []);
    expect(systemWarnings(facts, 'datacenter').join()).toContain('this machine: ECC is off');
    expect(systemWarnings(facts, 'edge').join()).not.toContain('ECC');
  });

  it('asks for ECC where it is unknown, with what was seen', () => {
    const wanted = describeSystem(container, [])['host_memory_configuration'];
    expect(wanted).toMatch(/^TODO: .*"ECC enabled" or "ECC disabled"; ECC: EDAC has no memory/);
    const memory = { ...server.memory, ecc: { state: null, how: 'seen' } };
    const known = describeSystem({ ...server, memory }, [], { suite: 'edge' });
    expect(known['host_memory_configuration']).toBe('2x 32 GB Registered-DDR5');
  });

  it('asks about accelerators that were not seen, with the name of a node before all else', () => {
    const warnings = systemWarnings(
      factsFile({ ...server, acceleratorsHow: 'PCI bus' }, []),
      'edge',
    );
    expect(warnings).toContain(
      'this machine: no accelerator was seen (PCI bus); say so if it has one',
    );
  });

  it('marks what was read in a container and in a virtual machine, behind what the user says', () => {
    const merged = parseMergeFile('m.yaml', 'hw_notes: overclocked');
    const { hw_notes: hardware, sw_notes: software } = describeSystem(container, [], { merged });
    expect(hardware).toMatch(/^overclocked; this machine: read inside a virtual machine \(KVM; /);
    expect(hardware).toContain(
      'read inside a container (Kubernetes; /proc/self/mountinfo), limited to 2.5 processors, limited to 8 GB of memory',
    );
    expect(software).toContain("the operating system is that of a container's image");
    const again = parseMergeFile('m.json', JSON.stringify({ hw_notes: hardware }));
    expect(describeSystem(container, [], { merged: again })['hw_notes']).toBe(hardware);
  });

  it('counts accelerators and states their ECC, on only where all have it', () => {
    const gpu = {
      model: 'NVIDIA H200',
      memoryBytes: 143_771 * 1024 ** 2,
      ecc: { state: 'on' as const, how: 'nvidia-smi ecc.mode.current: Enabled' },
      maxMhz: 1980,
      hostInterconnect: 'PCIe 5.0 x16',
      driver: '570.1',
      how: 'nvidia-smi',
    };
    expect(describeSystem({ ...server, accelerators: [gpu, gpu] }, [])).toMatchObject({
      accelerators_per_node: '2',
      accelerator_model_name: 'NVIDIA H200',
      accelerator_memory_capacity: '140.4 GB',
      accelerator_host_interconnect: 'PCIe 5.0 x16',
      accelerator_frequency: '1980MHz max',
      accelerator_memory_configuration: 'ECC enabled (nvidia-smi ecc.mode.current: Enabled)',
      other_software_stack:
        'longhaul 0.1.0, Node.js 20.20.2, @grpc/grpc-js 1.14.7, accelerator driver 570.1',
    });
    const key = 'accelerator_memory_configuration';
    const unsure = { ...gpu, model: 'Other', ecc: { state: null, how: '?' } };
    const mixed = { ...server, accelerators: [gpu, unsure] };
    expect(describeSystem(mixed, [])[key]).toMatch(/^TODO: .*"ECC enabled" or/);
    expect(systemWarnings(factsFile(mixed, []), 'datacenter').join()).toContain('differ');
    const off = {
      ...server,
      accelerators: [gpu, { ...gpu, ecc: { state: 'off' as const, how: 'x' } }],
    };
    expect(describeSystem(off, [])[key]).toMatch(/^ECC disabled/);
  });

  it('of which nothing can be read invents nothing', () => {
    const description = describeSystem(nothing, []);
    const known = Object.entries(description).filter(([, v]) => v !== '' && !v.startsWith('TODO'));
    expect(known.map(([key]) => key)).toEqual([
      'division',
      'number_of_nodes',
      'framework',
      'system_type',
      'other_software_stack',
      'host_networking_topology',
    ]);
  });
});
