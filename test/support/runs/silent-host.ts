import type { RunHost } from '../../../loadgen-node/run/host/host.ts';

/** Shows nothing, and ends nothing. */
export const SILENT_HOST: RunHost = { report: () => {}, signal: new AbortController().signal };
