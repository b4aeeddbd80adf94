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

/** Rules that an audit judges; equal to what composeAudit makes (a test sees to that). */
const RULE_COUNT = 23;

/** LoadGen's own counts over all phases. */
const loadgenCounts = z.object({
  issuedQueries: nonNegative,
  issuedSamples: nonNegative,
  completedSamples: nonNegative,
  lostSamples: nonNegative,
});

/** The C++ LoadGen that issued the queries, by what was linked and by its own log. */
export const CPP_ENGINE = z.strictObject({
  kind: z.literal('cpp-loadgen'),
  version: z.string(),
  /** Of the checkout; null where git does not know it. */
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  /** Tag whose sources these are; null where longhaul knows none. */
  tag: z.string().nullable(),
  /** SHA-256 of LoadGen's own list of its sources. */
  sourcesSha256: z.string(),
  /** SHA-256 of the user's static library, of the linked module, and of mlperf_log_detail.txt as LoadGen wrote it. */
  librarySha256: z.string(),
  addonSha256: z.string(),
  /** Null where LoadGen's test did not end. */
  detailLogSha256: z.string().nullable(),
  /** Samples that it issued otherwise than the plan that longhaul made from the same settings. */
  otherSamples: nonNegative.nullable(),
  /** Reasons to doubt that the library was built from the sources of its commit. */
  doubts: z.array(z.string()),
});

export type CppEngine = DeepReadonly<z.infer<typeof CPP_ENGINE>>;

const finding = z.object({
  /** Stable word. */
  id: z.string(),
  /**
   * `topology`: how the machines stand to one another, not what the software did. `path`: a finding of longhaul about
   * what stands between them, which the rules do not forbid explicitly.
   */
  kind: z.enum(['rule', 'topology', 'path']),
  /** The rule in short, in our words. */
  rule: z.string(),
  /** Where the rule stands. */
  source: z.string(),
  /** `not-provable`: this protocol, or this run, leaves no evidence for or against. */
  verdict: z.enum(['holds', 'broken', 'not-provable']),
  /** Reason for the verdict: a whole sentence. */
  why: z.string(),
  /** Figures behind it, one per line. */
  evidence: z.array(z.string()),
});

const audit = z.object(
  {
    schemaVersion: z.literal(
      AUDIT_SCHEMA_VERSION,
      `must be ${AUDIT_SCHEMA_VERSION}: the file is of another version of longhaul, or no audit`,
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
      /** Samples to digest on both ends, in millionths. */
      digestPerMillion: nonNegative,
      /** False when the run did not come to its end. */
      isComplete: z.boolean(),
      /** True when the run was interrupted (Ctrl-C, SIGTERM): it is no result then. */
      wasInterrupted: z.boolean(),
      /** Handed to the QDL by LoadGen. */
      issuedQueries: nonNegative,
      issuedSamples: nonNegative,
      /**
       * Null where LoadGen's counts are not those of the whole run (search for the peak, no
       * result).
       */
      loadgen: loadgenCounts.nullable(),
      /** Absent: longhaul's own engine issued the queries. */
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
    /** Requests to servers; null: the nodes are SUT nodes, or the protocol does not tell. */
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

/**
 * `network_audit.json`: the evidence of a run, and each rule of the Network division against it.
 */
export type NetworkAudit = Evidence<typeof audit>;

/**
 * Nodes that answered others during the run, with how many samples, and how many of the run's own; null where that was too
 * little to matter, or the nodes do not tell.
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

/** Cores that LoadGen and a SUT node share; null where they have machines of their own, or that is not known. */
export function sharedCores({
  rules,
  loadgenNode,
}: Pick<NetworkAudit, 'rules' | 'loadgenNode'>): number | null {
  const isOne = rules.some(({ id, verdict }) => id === 'separate-machines' && verdict === 'broken');
  return isOne ? loadgenNode.host.cpuCount : null;
}

/** One rule of the Network division and its verdict by the evidence of a run. */
export type AuditFinding = Evidence<typeof finding>;

export type LoadgenCounts = Evidence<typeof loadgenCounts>;

/** Input of the rules: the audit without its findings, and the compression that they allow. */
export interface AuditFacts extends Omit<NetworkAudit, 'schemaVersion' | 'rules'> {
  readonly compression: {
    /** Every way in which the run goes beyond what the rules allow, in words. */
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
 * @throws MlperfError `ERR_CONFIG_FILE` (missing, not JSON), `ERR_CONFIG_INVALID` (damaged, other version)
 */
export function readAudit(folder: string): NetworkAudit {
  return readJsonFile(join(folder, AUDIT_FILE), networkAuditSchema);
}

/** The audit of a run; null: it left no audit. @throws MlperfError as {@link readAudit} */
export function auditOf(folder: string): NetworkAudit | null {
  return existsSync(join(folder, AUDIT_FILE)) ? readAudit(folder) : null;
}
