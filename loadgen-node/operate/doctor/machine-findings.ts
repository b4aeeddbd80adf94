import { hasYoungGenerationFlag, NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import { bytesText, type DoctorFinding, subject } from './finding.ts';
import { pagingFindings } from './paging-findings.ts';
import { placementFindings } from './placement-findings.ts';
import { processorFindings } from './processor-findings.ts';

/** Connections of several nodes with many streams, logs, and what Node.js itself opens. */
const OPEN_FILES_MIN = 1024;

const MEMORY_MIN_BYTES = 1024 ** 3;

/** A machine, as far as it was read. */
export interface Machine {
  readonly facts: SystemFacts;
  /** Null where only the description of the machine is known. */
  readonly tuning: TuningFacts | null;
  readonly isLoadgen: boolean;
}

/** Everything about one machine that a run should not be surprised by. */
export function machineFindings({ facts, tuning, isLoadgen }: Machine): DoctorFinding[] {
  const kind = enclosure(facts);
  if (tuning === null) {
    const why =
      'this node does not tell governor, clock, steal, quota and limits: it is older, or of other make';
    return [kind, subject('tuning', 'Settings of the machine').unknown(why)];
  }
  return [
    kind,
    ...processorFindings(tuning, facts.processor.threads),
    ...placementFindings(tuning, facts.processor.threads),
    memory(facts, tuning),
    ...pagingFindings(facts, tuning),
    openFiles(tuning),
    nodeFlags(tuning, isLoadgen),
  ];
}

function enclosure({ enclosure: found, processor }: SystemFacts): DoctorFinding {
  const about = subject('machine', 'Machine');
  const parts = [
    processor.model ?? 'unknown processor',
    found.virtualMachine === null ? null : `virtual machine (${found.virtualMachine})`,
    found.container === null ? null : `container (${found.container})`,
  ];
  return about.ok(parts.filter((part) => part !== null).join(', '));
}

function memory(
  { memory: { totalBytes } }: SystemFacts,
  { availableBytes }: TuningFacts,
): DoctorFinding {
  const about = subject('memory', 'Memory', { availableBytes, totalBytes });
  if (availableBytes === null) return about.unknown('the system does not tell');
  const of = totalBytes === null ? '' : ` of ${bytesText(totalBytes)}`;
  const seen = `${bytesText(availableBytes)}${of} free to use`;
  return availableBytes < MEMORY_MIN_BYTES
    ? about.warning(seen, 'end what else runs here: swapping ruins latencies')
    : about.ok(seen);
}

function openFiles({ openFilesMax }: TuningFacts): DoctorFinding {
  const about = subject('open-files', 'Open-file limit', { openFilesMax });
  if (openFilesMax === null) return about.unknown('the system does not tell');
  return openFilesMax < OPEN_FILES_MIN
    ? about.warning(String(openFilesMax), `ulimit -n ${OPEN_FILES_MIN} (service: LimitNOFILE=)`)
    : about.ok(String(openFilesMax));
}

/** Measured on 2 cores (docs/benchmarks.md): p99 of the dispatch lag falls to a half or a third up to 5,000 queries/s. */
function nodeFlags({ runtimeFlags }: TuningFacts, isLoadgen: boolean): DoctorFinding {
  const about = subject('node-flags', 'Flags of Node.js');
  const seen = runtimeFlags.length === 0 ? 'none' : runtimeFlags.join(' ');
  if (!hasYoungGenerationFlag(runtimeFlags)) {
    const advice = `start it by the program longhaul itself, or by: node ${NODE_FLAGS.join(' ')} ...`;
    return about.warning(seen, `large samples may meet long pauses; ${advice}`);
  }
  return !isLoadgen || runtimeFlags.some((flag) => /^--single[-_]threaded[-_]gc$/.test(flag))
    ? about.ok(seen)
    : about.ok(
        seen,
        `with few cores, p99 of the dispatch lag is lower by: node ${NODE_FLAGS.join(' ')} --single-threaded-gc dist/loadgen-node/main.js run ...`,
      );
}
