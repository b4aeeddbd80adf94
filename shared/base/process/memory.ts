import { totalmem } from 'node:os';

/**
 * Memory still available to this process: of the machine, or of its control group (version 1 or 2),
 * such as a container.
 */
export interface FreeMemory {
  readonly bytes: number;
  /** Text for people: how much is free, and of what. */
  readonly text: string;
}

export function freeMemory(): FreeMemory {
  const bytes = process.availableMemory();
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  const whose = isLimited
    ? `the ${gigabytes(limit)} that this container or control group may use`
    : `this machine's ${gigabytes(totalmem())}`;
  return { bytes, text: `${gigabytes(bytes)} are free of ${whose}` };
}

/** `1.5 GB`. */
export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
