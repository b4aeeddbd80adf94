import type { AuditFacts } from '../../../loadgen-node/observe/network-audit.ts';
import type { CallPath } from '../../../shared/evidence/call-path.ts';
import type {
  LedgerCounts,
  NameCall,
  NodeEvidence,
} from '../../../shared/evidence/evidence-schema.ts';
import type { HostEvidence } from '../../../shared/host/host-facts.ts';

/** A machine of its own. */
export function hostFacts(name: string, fields: Partial<HostEvidence> = {}): HostEvidence {
  return {
    ...{ hostname: name, bootId: `boot of ${name}`, operatingSystem: 'Linux 6.1' },
    ...{ cpuModel: 'a processor', cpuCount: 2, memoryBytes: 2 ** 33 },
    addresses: [`10.0.0.${name.length}`],
    ...fields,
  };
}

/** Of a ledger: no worker was replaced, no sample was answered for others. */
export const NOTHING_BESIDE = {
  replacedWorkerCount: 0,
  otherSampleCount: 0,
  otherAddresses: [],
};

/** Counts of 100 samples, one per query. */
export function ledgerCounts(fields: Partial<LedgerCounts> = {}): LedgerCounts {
  return {
    ...{ queryCount: 100, partCount: 100, sampleCount: 100, payloadBytes: 5_000 },
    ...{ completedCount: 100, failedCount: 0, responseBytes: 400 },
    ...{ digestedSampleCount: 100, payloadDigest: 'ab'.repeat(32) },
    ...fields,
  };
}

/** A call with nothing between the two ends, as a LoadGen node makes it and longhaul answers it. */
export function directPath(fields: Partial<CallPath> = {}): CallPath {
  const end = (localAddress: string, localPort: number) => ({ localAddress, localPort });
  const far = (remoteAddress: string, remotePort: number) => ({ remoteAddress, remotePort });
  return {
    loadgen: { ...end('10.0.0.1', 41_000), ...far('10.0.1.1', 50_051) },
    sut: { ...end('10.0.1.1', 50_051), ...far('10.0.0.1', 41_000) },
    requestHeaders: [
      { name: 'grpc-accept-encoding', value: 'identity,deflate,gzip' },
      { name: 'accept-encoding', value: 'identity' },
      { name: 'user-agent', value: 'grpc-node-js/1.14.7' },
      { name: 'content-type', value: 'application/grpc' },
      { name: 'te', value: 'trailers' },
      { name: 'authorization', value: '' },
    ],
    requestHeadersLeftOut: 0,
    responseHeaders: [
      { name: 'content-type', value: 'application/grpc+proto' },
      { name: 'date', value: '' },
    ],
    ...fields,
  };
}

/** A node of longhaul on a machine of its own that did everything right. */
export function nodeEvidence(name: string, fields: Partial<NodeEvidence> = {}): NodeEvidence {
  const nodeIdentity = `identity of ${name}`;
  const common = { nodeIdentity, features: ['payload-digests'], limits: null };
  return {
    address: `${name}.example:50051`,
    description: {
      ...{ ...common, name, software: 'longhaul', softwareVersion: '0.1.0' },
      ...{ protocolVersionMin: 1, protocolVersionMax: 1 },
      components: [{ name: 'node', version: '20' }],
      model: { name: 'model', sha256: 'ff', isStandIn: false },
      ...{ settings: { workers: '1' }, host: hostFacts(name) },
    },
    streams: [
      {
        ...{ ...common, protocolVersion: 1, nodeName: name, model: 'model' },
        ...{ compressionCheck: 'checked', path: directPath() },
      },
    ],
    digestPerMillion: 1_000_000,
    ours: ledgerCounts(),
    theirs: {
      ...ledgerCounts(),
      encodings: [{ form: 'jpeg', compression: 'identity' }],
      ...{ streamCount: 1, repeatedStreamCount: 0, ...NOTHING_BESIDE },
    },
    ...{ ledgerMissing: null, ledgerIdentity: nodeIdentity, differences: [], claims: [] },
    ...fields,
  };
}

/** Evidence of a Name() call to these nodes. */
export function nameCall(
  nodes: readonly NodeEvidence[],
  fields: Partial<NameCall['nodes'][number]> = {},
): NameCall {
  const names = nodes.map(({ description, address }) => description?.name ?? address);
  return {
    name: `Network SUT: ${names.join(', ')}`,
    failure: null,
    durationNs: 3e6,
    nodes: nodes.map(({ address, description }, i) => ({
      ...{ address, name: names[i] as string, identity: description?.nodeIdentity ?? '' },
      ...{ roundTripNs: 2.5e6, tcpConnectNs: 2e6, failure: null },
      ...{ path: directPath(), remoteAddress: `10.0.1.${i + 1}` },
      ...fields,
    })),
  };
}

/** A run of one or more nodes in which every rule that can be shown holds. */
export function auditFacts(nodes: readonly NodeEvidence[] = [nodeEvidence('sut-a')]): AuditFacts {
  const samples = 100 * nodes.length;
  const issued = { issuedQueries: samples, issuedSamples: samples };
  return {
    run: {
      ...{ runId: 'run-1', protocol: 'longhaul', division: 'network', round: 'v4.1' },
      ...{ benchmark: 'digits', isOfficialBenchmark: false },
      ...{ scenario: 'Server', mode: 'PerformanceOnly' },
      encoding: { form: 'jpeg', compression: 'identity' },
      ...{ digestPerMillion: 1_000_000, isComplete: true, wasInterrupted: false, ...issued },
      loadgen: { ...issued, completedSamples: samples, lostSamples: 0 },
    },
    loadgenNode: {
      ...{ software: 'longhaul', softwareVersion: '0.1.0', components: [] },
      ...{ host: hostFacts('loadgen'), receiveWindowBytes: 2 ** 24 },
      settings: { streamsPerNode: '1' },
    },
    server: null,
    nameCalls: [nameCall(nodes), nameCall(nodes)],
    nodes,
    compression: { breaches: [], rule: 'Allow one of the following.' },
  };
}
