import { describe, type Mutation } from './mutation.ts';

/** Faults of systems/acme-2n.json. */
export const SYSTEM_MUTATIONS: readonly Mutation[] = [
  describe('no system_type_detail', ['system_type_detail', undefined], 'field-missing'),
  describe('no number of connections', ['number_connections', undefined], 'field-missing'),
  describe('no is_network', ['is_network', undefined], 'field-missing'),
  describe('JSON true for is_network', ['is_network', true], 'is-network-not-text'),
  describe('"False" for is_network', ['is_network', 'False'], 'is-network-false'),
  describe('an empty framework', ['framework', ''], 'field-empty'),
  describe('the number 0 of accelerators', ['accelerators_per_node', 0], 'field-not-text'),
  describe('a list for cooling', ['cooling', ['air']], 'field-not-text'),
  describe('"N/A" nodes', ['number_of_nodes', 'N/A'], 'field-not-number'),
  describe('a key that nobody knows', ['rack', '7'], 'field-unknown'),
  describe('a TODO left', ['cooling', 'TODO: air or liquid'], 'todo-left'),
  describe('the division in upper case', ['division', 'Network'], 'division-differs'),
  describe('another submitter', ['submitter', 'EMCA'], 'submitter-differs'),
  describe('a status that is none', ['status', 'released'], 'status-unknown'),
  describe('a system type that is none', ['system_type', 'Data Center'], 'system-type-unknown'),
  describe('an edge system in network', ['system_type', 'edge'], 'not-datacenter', [
    'scenario-missing',
    'scenario-unknown',
  ]),
  describe('both suites in network', ['system_type', 'datacenter,edge'], 'not-datacenter', [
    'scenario-missing',
  ]),
  describe('an empty network topology', ['network_topology', ''], 'network-field-empty'),
  describe('a fabric that is not permitted', ['network_type', 'USB4'], 'fabric-not-permitted'),
  describe('NVLink as the network', ['network_type', 'NVLink'], 'bus-interconnect'),
  describe('PCIe below Ethernet', ['network_media', 'PCIe 5.0 cable'], 'bus-interconnect'),
  describe(
    'memory without a word of ECC',
    ['host_memory_configuration', '8 x 32 GB'],
    'ecc-not-stated',
  ),
  describe('ECC off', ['host_memory_configuration', '8 x 32 GB, ECC disabled'], 'ecc-off'),
  describe('non-ECC memory', ['host_memory_configuration', '8 x 32 GB non-ECC'], 'ecc-off'),
  describe('a rate too small', ['network_rate', '1M'], 'bandwidth-too-small'),
  describe('a rate that is none', ['network_rate', 'fast'], 'bandwidth-unknown'),
];
