import type { NameCall, NodeEvidence } from '../../../shared/evidence/network-evidence.ts';
import type { OipEvidence } from '../../../shared/evidence/oip-evidence.ts';
import type { HostEvidence } from '../../../shared/host/host-facts.ts';

/** Version of the form of `network_audit.json`. */
export const AUDIT_SCHEMA_VERSION = 4;

/** Versions that are read: one of 3 has no rule `claims-possible`, and nothing of claims. */
export const READ_SCHEMA_VERSIONS = [3, 4] as const;

/** `not-provable`: this protocol, or this run, leaves no evidence for or against. */
export type AuditVerdict = 'holds' | 'broken' | 'not-provable';

/** One rule of the Network division and what the evidence of a run says about it. */
export interface AuditFinding {
  /** Stable word. */
  readonly id: string;
  /**
   * `topology`: how the machines stand to one another, not what the software did. `path`: a finding of longhaul about
   * what stands between them; the rules forbid none of that in so many words.
   */
  readonly kind: 'rule' | 'topology' | 'path';
  /** The rule in short, in our words. */
  readonly rule: string;
  /** Where the rule stands. */
  readonly source: string;
  readonly verdict: AuditVerdict;
  /** What led to the verdict: a whole sentence. */
  readonly why: string;
  /** Figures behind it, one per line. */
  readonly evidence: readonly string[];
}

/** What LoadGen itself counted, over all its phases. */
export interface LoadgenCounts {
  readonly issuedQueries: number;
  readonly issuedSamples: number;
  readonly completedSamples: number;
  readonly lostSamples: number;
}

/** The run that an audit is about. */
export interface AuditedRun {
  readonly runId: string;
  /** What LoadGen and SUT nodes spoke: `longhaul` (mlperf.network.v1), or `oip`, the Open Inference Protocol. */
  readonly protocol: 'longhaul' | 'oip';
  readonly division: 'network' | 'open';
  readonly benchmark: string;
  readonly isOfficialBenchmark: boolean;
  readonly scenario: string;
  readonly mode: string;
  /** How samples travel: form and lossless compression. */
  readonly encoding: { readonly form: string; readonly compression: string };
  /** Samples to digest on both ends, in millionths. */
  readonly digestPerMillion: number;
  /** False when the run did not come to its end. */
  readonly isComplete: boolean;
  /** True when somebody ended the run (Ctrl-C, SIGTERM): whatever holds, it is no result. */
  readonly wasInterrupted: boolean;
  /** What LoadGen handed to the QDL. */
  readonly issuedQueries: number;
  readonly issuedSamples: number;
  /** Null where LoadGen's counts are not those of the whole run (search for the peak, no result). */
  readonly loadgen: LoadgenCounts | null;
}

/** Our own end. */
export interface LoadgenNodeFacts {
  readonly software: string;
  readonly softwareVersion: string;
  readonly components: readonly { readonly name: string; readonly version: string }[];
  readonly host: HostEvidence;
  /** HTTP/2 receive window that the connections were opened with, in bytes. */
  readonly receiveWindowBytes: number;
  /** Every setting of the QDL by name. */
  readonly settings: Readonly<Record<string, string>>;
}

/** `network_audit.json`: the evidence of a run, and each rule of the Network division against it. */
export interface NetworkAudit {
  readonly schemaVersion: (typeof READ_SCHEMA_VERSIONS)[number];
  readonly run: AuditedRun;
  readonly loadgenNode: LoadgenNodeFacts;
  /** Null where the run did not speak the Open Inference Protocol. */
  readonly oip: OipEvidence | null;
  readonly nameCalls: readonly NameCall[];
  readonly nodes: readonly NodeEvidence[];
  readonly rules: readonly AuditFinding[];
}

/** What the rules are judged by: the audit without its findings, and what the rules allow. */
export interface AuditFacts extends Omit<NetworkAudit, 'schemaVersion' | 'rules'> {
  readonly compression: {
    /** Every way in which the run goes beyond what the rules allow, in words. */
    readonly breaches: readonly string[];
    /** Text of the benchmark's row in the rules; null for a benchmark without one. */
    readonly rule: string | null;
  };
}
