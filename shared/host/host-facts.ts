import { readFileSync } from 'node:fs';
import { cpus, hostname, networkInterfaces, release, totalmem, type } from 'node:os';

/** What a machine says of itself. */
export interface HostEvidence {
  readonly hostname: string;
  /** Changes at every start of the machine; empty where the system tells none. */
  readonly bootId: string;
  readonly operatingSystem: string;
  readonly cpuModel: string;
  readonly cpuCount: number;
  readonly memoryBytes: number;
  /** IP addresses, loopback left out. */
  readonly addresses: readonly string[];
}

/**
 * Tells which machine this is. An interface, because a test has one machine only; no option of a user
 * changes it.
 */
export type HostIdentity = () => HostEvidence;

/** This machine. */
export const thisHost: HostIdentity = () => {
  const processors = cpus();
  return {
    hostname: hostname(),
    bootId: bootId(),
    operatingSystem: `${type()} ${release()}`,
    cpuModel: processors[0]?.model ?? 'unknown',
    cpuCount: processors.length,
    memoryBytes: totalmem(),
    addresses: hostAddresses(),
  };
};

/**
 * Identity of this start of the machine, or an empty string where the system tells none (only Linux
 * does). Equal on both ends of a connection: one machine.
 */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux, or a sandbox without /proc: unknown is an answer, too.
    return '';
  }
}

/** Addresses of this machine, loopback left out. */
function hostAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((entry) => !entry.internal)
    .map((entry) => entry.address);
}
