import type { FindingId } from '../../../../loadgen-node/submission/check/rules/findings.ts';
import type { MutableTree } from '../mutable-tree.ts';

/** One fault, and what the self-check has to say about it. */
export interface Mutation {
  /** The fault in words. */
  readonly what: string;
  readonly change: (tree: MutableTree) => void;
  readonly finding: FindingId;
  /** File or folder of the finding, relative to the tree. */
  readonly file: string;
  /** Other findings that the fault leads to. */
  readonly consequences?: readonly FindingId[];
}

/** Folder of the submitter. */
export const ACME = 'network/ACME';
export const SYSTEM: string = `${ACME}/systems/acme-2n.json`;
/** Folders of the model in each part of the tree. */
export const RESULTS: string = `${ACME}/results/acme-2n/resnet50`;
export const MEASUREMENTS: string = `${ACME}/measurements/acme-2n/resnet50`;
export const COMPLIANCE: string = `${ACME}/compliance/acme-2n/resnet50`;
export const EVIDENCE: string = `${ACME}/documentation/evidence/acme-2n/resnet50`;
/** Folders of the runs of a result. */
export const SERVER_RUN: string = `${RESULTS}/Server/performance/run_1`;
const OFFLINE_RUN: string = `${RESULTS}/Offline/performance/run_1`;
export const SERVER_LOG: string = `${SERVER_RUN}/mlperf_log_detail.txt`;
export const OFFLINE_LOG: string = `${OFFLINE_RUN}/mlperf_log_detail.txt`;
export const ACCURACY: string = `${RESULTS}/Server/accuracy`;
export const ACCURACY_TEXT: string = `${ACCURACY}/accuracy.txt`;
export const ACCURACY_LOG: string = `${ACCURACY}/mlperf_log_accuracy.json`;

/** Changes one key of the system description. */
export function describe(
  what: string,
  [key, value]: readonly [key: string, value: unknown],
  finding: FindingId,
  consequences: readonly FindingId[] = [],
): Mutation {
  return {
    what,
    change: (tree) =>
      tree.json(SYSTEM, (system) => {
        if (value === undefined) delete system[key];
        else system[key] = value;
      }),
    finding,
    file: SYSTEM,
    consequences,
  };
}

/** Changes one record of a detail log; null takes it out. */
export function logged(
  what: string,
  [file, key, json]: readonly [file: string, key: string, json: string | null],
  finding: FindingId,
  consequences: readonly FindingId[] = [],
): Mutation {
  return { what, change: (tree) => tree.record(file, key, json), finding, file, consequences };
}
