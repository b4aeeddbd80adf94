import { z } from 'zod';
import type { CallPath } from '../../../shared/evidence/call-path.ts';
import type {
  LedgerCounts,
  NameCall,
  NodeDescription,
  NodeEvidence,
  NodeLedger,
  NodeLimitsEvidence,
} from '../../../shared/evidence/network-evidence.ts';
import { CLAIM_KINDS } from '../../../shared/evidence/node-claims.ts';
import type { HostEvidence } from '../../../shared/host/host-facts.ts';
import { oipEvidence, oipNodeEvidence } from './audit-oip-schema.ts';
import { AUDIT_SCHEMA_VERSION, type NetworkAudit, READ_SCHEMA_VERSIONS } from './network-audit.ts';

const count = z.int().min(0);

/** What a node says of itself: any of 64 bits, rounded above 2^53 as it was when it came. */
const claimed = z
  .number()
  .min(0)
  .max(2 ** 64)
  .refine(Number.isInteger, 'must be a whole number');

const settings = z.record(z.string(), z.string());
const components = z.array(z.object({ name: z.string(), version: z.string() }));
const encoding = z.object({ form: z.string(), compression: z.string() });

const host: z.ZodType<HostEvidence> = z.object({
  hostname: z.string(),
  bootId: z.string(),
  operatingSystem: z.string(),
  cpuModel: z.string(),
  cpuCount: count,
  memoryBytes: claimed,
  addresses: z.array(z.string()),
});

const limits: z.ZodType<NodeLimitsEvidence> = z.object({
  messageBytesMax: claimed,
  partBytesMax: claimed,
  sampleBytesMax: claimed,
  querySamplesMax: claimed,
  streamWindowBytes: claimed,
  connectionWindowBytes: claimed,
});

const ours: z.ZodType<LedgerCounts> = z.object({
  queryCount: count,
  partCount: count,
  sampleCount: count,
  payloadBytes: count,
  completedCount: count,
  failedCount: count,
  responseBytes: count,
  digestedSampleCount: count,
  payloadDigest: z.string().regex(/^([0-9a-f]{64})?$/, 'must be 64 hexadecimal digits, or empty'),
});

const theirs: z.ZodType<NodeLedger> = z.object({
  queryCount: claimed,
  partCount: claimed,
  sampleCount: claimed,
  payloadBytes: claimed,
  completedCount: claimed,
  failedCount: claimed,
  responseBytes: claimed,
  digestedSampleCount: claimed,
  payloadDigest: z.string().regex(/^([0-9a-f]{2})*$/, 'must be hexadecimal digits, or empty'),
  encodings: z.array(encoding),
  streamCount: count,
  repeatedStreamCount: count,
  replacedWorkerCount: z.exactOptional(count),
});

const ends = z.object({
  localAddress: z.string(),
  localPort: count,
  remoteAddress: z.string(),
  remotePort: count,
});

const headers = z.array(z.object({ name: z.string(), value: z.string() }));

const path: z.ZodType<CallPath> = z.object({
  loadgen: ends.nullable(),
  sut: ends.nullable(),
  requestHeaders: headers.nullable(),
  requestHeadersLeftOut: count,
  responseHeaders: headers,
});

const nameCall: z.ZodType<NameCall> = z.object({
  name: z.string().nullable(),
  failure: z.string().nullable(),
  durationNs: count,
  nodes: z.array(
    z.object({
      address: z.string(),
      name: z.string().nullable(),
      identity: z.string().nullable(),
      roundTripNs: count.nullable(),
      failure: z.string().nullable(),
      path: path.nullable(),
      tcpConnectNs: count.nullable(),
      remoteAddress: z.string().nullable(),
    }),
  ),
});

const description: z.ZodType<NodeDescription> = z.object({
  name: z.string(),
  nodeIdentity: z.string(),
  software: z.string(),
  softwareVersion: z.string(),
  components,
  protocolVersionMin: count,
  protocolVersionMax: count,
  features: z.array(z.string()),
  model: z.object({ name: z.string(), sha256: z.string(), isStandIn: z.boolean() }).nullable(),
  settings,
  host: host.nullable(),
  limits: limits.nullable(),
});

const node: z.ZodType<NodeEvidence> = z.object({
  address: z.string(),
  description: description.nullable(),
  streams: z.array(
    z.object({
      protocolVersion: count,
      nodeName: z.string(),
      nodeIdentity: z.string(),
      model: z.string(),
      features: z.array(z.string()),
      limits: limits.nullable(),
      compressionCheck: z.enum(['checked', 'unknown']),
      path,
    }),
  ),
  digestPerMillion: count,
  ours,
  theirs: theirs.nullable(),
  ledgerMissing: z.string().nullable(),
  ledgerIdentity: z.string(),
  differences: z.array(z.string()),
  claims: z.exactOptional(
    z.array(z.object({ kind: z.enum(CLAIM_KINDS), count, text: z.string() })),
  ),
  queryPaths: z.exactOptional(z.array(path)),
  oip: z.exactOptional(oipNodeEvidence),
});

/** Rules that an audit judges; equal to what composeAudit makes (a test sees to that). */
const RULE_COUNT = 23;
const RULE_COUNT_OF_VERSION_3 = 22;

const audit = z.object(
  {
    schemaVersion: z.literal(
      READ_SCHEMA_VERSIONS,
      `must be ${READ_SCHEMA_VERSIONS.join(' or ')}: the file is of another version of longhaul, or no audit`,
    ),
    run: z.object({
      runId: z.string(),
      protocol: z.enum(['longhaul', 'oip']),
      division: z.enum(['network', 'open']),
      benchmark: z.string(),
      isOfficialBenchmark: z.boolean(),
      scenario: z.string(),
      mode: z.string(),
      encoding,
      digestPerMillion: count,
      isComplete: z.boolean(),
      wasInterrupted: z.boolean(),
      issuedQueries: count,
      issuedSamples: count,
      loadgen: z
        .object({
          issuedQueries: count,
          issuedSamples: count,
          completedSamples: count,
          lostSamples: count,
        })
        .nullable(),
    }),
    loadgenNode: z.object({
      software: z.string(),
      softwareVersion: z.string(),
      components,
      host,
      receiveWindowBytes: count,
      settings,
    }),
    oip: oipEvidence.nullable(),
    nameCalls: z.array(nameCall),
    nodes: z.array(node),
    rules: z.array(
      z.object({
        id: z.string(),
        kind: z.enum(['rule', 'topology', 'path']),
        rule: z.string(),
        source: z.string(),
        verdict: z.enum(['holds', 'broken', 'not-provable']),
        why: z.string(),
        evidence: z.array(z.string()),
      }),
    ),
  },
  'must be the audit of a run',
);

/** Form of `network_audit.json`. */
export const networkAuditSchema: z.ZodType<NetworkAudit> = audit.superRefine(
  ({ schemaVersion, rules }, context) => {
    const needed = schemaVersion === AUDIT_SCHEMA_VERSION ? RULE_COUNT : RULE_COUNT_OF_VERSION_3;
    if (new Set(rules.map(({ id }) => id)).size === needed) return;
    const message = `must be the ${needed} rules that are judged, each once`;
    context.addIssue({ code: 'custom', path: ['rules'], message });
  },
);
