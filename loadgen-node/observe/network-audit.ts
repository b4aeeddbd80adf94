import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DeepReadonly } from '../../shared/base/deep-readonly.ts';
import { readJsonFile, writeText } from '../../shared/base/files/read-file.ts';
import { asOneLine, counted, jsonText } from '../../shared/base/text.ts';
import {
  components,
  type Evidence,
  encoding,
  nameCall,
  nodeEvidence,
  nonNegative,
  requestEvidence,
  settings,
} from '../../shared/evidence/evidence-schema.ts';
import { otherWorkOf } from '../../shared/evidence/other-work.ts';
import { hostEvidence } from '../../shared/host/host-facts.ts';
import { OTHER_SHARE_MIN } from '../loadgen/engine/causes.ts';
import { PROTOCOL_NAME } from './protocol-name.ts';

const AUDIT_FILE = 'network_audit.json';

/** Version of the form of `network_audit.json`. */
export const AUDIT_SCHEMA_VERSION = 4;

/** Number of rules that an audit judges; a test compares it with composeAudit. */
const RULE_COUNT = 23;

/** LoadGen's own counts over all phases. */
const loadgenCounts = z.object({
  issuedQueries: nonNegative,
  issuedSamples: nonNegative,
  completedSamples: nonNegative,
  lostSamples: nonNegative,
});

/** The C++ LoadGen that issued the queries, from its link and from its own log. */
export const CPP_ENGINE = z.strictObject({
  kind: z.literal('cpp-loadgen'),
  version: z.string(),
  /** Commit of the checkout; null if git does not know it. */
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  /** Tag with these sources; null if longhaul knows none. */
  tag: z.string().nullable(),
  /** SHA-256 of LoadGen's own list of its sources. */
  sourcesSha256: z.string(),
  /**
   * SHA-256 of the user's static library, of the linked module, and of mlperf_log_detail.txt as
   * LoadGen wrote it.
   */
  librarySha256: z.string(),
  addonSha256: z.string(),
  /** Null if LoadGen's test did not end. */
  detailLogSha256: z.string().nullable(),
  /** Number of issued samples that differ from longhaul's plan for the same settings. */
  otherSamples: nonNegative.nullable(),
  /** Reasons to doubt that the library was built from the sources of its commit. */
  doubts: z.array(z.string()),
});

export type CppEngine = DeepReadonly<z.infer<typeof CPP_ENGINE>>;

const finding = z.object({
  /** Stable identifier. */
  id: z.string(),
  /**
   * `topology`: the arrangement of the machines, not the software's behaviour. `path`: longhaul's
   * finding about devices between them, which the rules do not forbid explicitly.
   */
  kind: z.enum(['rule', 'topology', 'path']),
  /** Short text of the rule, in longhaul's words. */
  rule: z.string(),
  /** Place of the rule in its document. */
  source: z.string(),
  /** `not-provable`: this protocol, or this run, gives no evidence either way. */
  verdict: z.enum(['holds', 'broken', 'not-provable']),
  /** Reason for the verdict, as a whole sentence. */
  why: z.string(),
  /** Figures that support it, one per line. */
  evidence: z.array(z.string()),
});

const audit = z.object(
  {
    schemaVersion: z.literal(
      AUDIT_SCHEMA_VERSION,
      `must be ${AUDIT_SCHEMA_VERSION}: the file is from another version of longhaul, or not an audit`,
    ),
    /** The run that the audit is about. */
    run: z.object({
      runId: z.string(),
      /** Protocol between LoadGen and the nodes: `longhaul` (mlperf.network.v1), or another. */
      protocol: PROTOCOL_NAME,
      division: z.enum(['network', 'open']),
      round: z.string(),
      benchmark: z.string(),
      isOfficialBenchmark: z.boolean(),
      scenario: z.string(),
      mode: z.string(),
      encoding,
      /** Sampling rate of the digests on both ends, in millionths. */
      digestPerMillion: nonNegative,
      /** False if the run did not complete. */
      isComplete: z.boolean(),
      /** True if the run was interrupted (Ctrl-C, SIGTERM) and so has no result. */
      wasInterrupted: z.boolean(),
      /** Queries that LoadGen passed to the QDL. */
      issuedQueries: nonNegative,
      issuedSamples: nonNegative,
      /** Null if LoadGen's counts do not cover the whole run (search for the peak, no result). */
      loadgen: loadgenCounts.nullable(),
      /** Absent if longhaul's own engine issued the queries. */
      engine: CPP_ENGINE.optional(),
    }),
    loadgenNode: z.object({
      software: z.string(),
      softwareVersion: z.string(),
      components,
      host: hostEvidence,
      /** HTTP/2 receive window that the connections were opened with, in bytes. */
      receiveWindowBytes: nonNegative,
      /** Every setting of the QDL by name. */
      settings,
    }),
    /**
     * Requests to servers; null if the nodes are SUT nodes, or if the protocol does not report
     * them.
     */
    server: requestEvidence.nullable(),
    nameCalls: z.array(nameCall),
    nodes: z.array(nodeEvidence),
    rules: z.array(finding),
  },
  'must be the audit of a run',
);

/** Form of `network_audit.json`. */
const networkAuditSchema = audit.superRefine(({ rules }, context) => {
  if (new Set(rules.map(({ id }) => id)).size === RULE_COUNT) return;
  const message = `must be the ${RULE_COUNT} rules that are judged, each once`;
  context.addIssue({ code: 'custom', path: ['rules'], message });
});

/** `network_audit.json`: the evidence of a run, and the Network division's rules judged by it. */
export type NetworkAudit = Evidence<typeof audit>;

/**
 * Text on nodes that served other clients during the run, with their samples and the run's own;
 * null if that was too little to matter, or if it is unknown.
 */
export function sharedNodes({ nodes }: Pick<NetworkAudit, 'nodes'>): string | null {
  const shared = nodes.flatMap((node) => {
    const other = otherWorkOf(node);
    return other === null ? [] : [{ ...node, other }];
  });
  const samples = shared.reduce((sum, { other }) => sum + other.samples, 0);
  const own = nodes.reduce((sum, { ours }) => sum + ours.completedCount, 0);
  if (samples === 0 || samples < OTHER_SHARE_MIN * own) return null;
  const texts = shared.map(({ address, other, ours }) => {
    const beside = counted(ours.completedCount, 'sample');
    return `SUT node ${address} ${other.text}, beside ${beside} of this run`;
  });
  return asOneLine(texts.join('; '));
}

/**
 * Cores that LoadGen and a SUT node share; null if they run on separate machines, or if that is
 * unknown.
 */
export function sharedCores({
  rules,
  loadgenNode,
}: Pick<NetworkAudit, 'rules' | 'loadgenNode'>): number | null {
  const isOne = rules.some(({ id, verdict }) => id === 'separate-machines' && verdict === 'broken');
  return isOne ? loadgenNode.host.cpuCount : null;
}

/** One rule of the Network division, and its verdict from the evidence of a run. */
export type AuditFinding = Evidence<typeof finding>;

export type LoadgenCounts = Evidence<typeof loadgenCounts>;

/** Input of the rules: the audit without its findings, and the compression that the rules allow. */
export interface AuditFacts extends Omit<NetworkAudit, 'schemaVersion' | 'rules'> {
  readonly compression: {
    /** Every way in which the run exceeds the rules, as text. */
    readonly breaches: readonly string[];
    /** Text of the benchmark's row in the rules; null for a benchmark without one. */
    readonly rule: string | null;
  };
}

/** Writes `network_audit.json`. @throws MlperfError `ERR_OUTPUT` */
export function writeAudit(folder: string, written: NetworkAudit): void {
  writeText(join(folder, AUDIT_FILE), `${jsonText(written, 2)}\n`);
}

/**
 * Reads the audit of a run.
 * @param folder Output folder of the run.
 * @throws MlperfError `ERR_CONFIG_FILE` (missing, not JSON), `ERR_CONFIG_INVALID` (damaged, other
 *   version)
 */
export function readAudit(folder: string): NetworkAudit {
  return readJsonFile(join(folder, AUDIT_FILE), networkAuditSchema);
}

/** The audit of a run; null if it has none. @throws MlperfError as {@link readAudit} */
export function auditOf(folder: string): NetworkAudit | null {
  return existsSync(join(folder, AUDIT_FILE)) ? readAudit(folder) : null;
}
