import type { Terminal } from '../../shared/process/terminal.ts';
import type { RunProbe } from '../peak/probe.ts';
import type { Interruption } from './interruption.ts';
import type { PreparedRun } from './prepare-run.ts';

/** What the probes of a search over the network share. */
export interface NetworkProbeParts {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  /** Folder of the search: full runs leave their run folder below it (`confirm-1`, ...). */
  readonly output: string;
  /** True: screenings leave their run folder too (`probe-7`). */
  readonly keepsProbes: boolean;
}

/** Runs probes over the network, with names, data set and store that are ready. */
export function networkProbes(_prepared: PreparedRun, _parts: NetworkProbeParts): RunProbe {
  throw new Error('not built yet');
}
