import { readFileSync } from 'node:fs';
import { cpus, hostname, networkInterfaces, release, totalmem, type } from 'node:os';
import { z } from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';

/** A number that a node tells: any of 64 bits, rounded above 2^53 as it was when it came. */
export const claimed = z
  .number()
  .min(0)
  .max(2 ** 64)
  .refine(Number.isInteger, 'must be a whole number');

/** A machine as it describes itself, in Describe and in the evidence. */
export const hostEvidence = z.object({
  hostname: z.string(),
  /** Changes at every start of the machine; empty where the system has none. */
  bootId: z.string(),
  operatingSystem: z.string(),
  cpuModel: z.string(),
  cpuCount: z.int().min(0),
  /** Of another node it may be any of 64 bits, rounded above 2^53. */
  memoryBytes: claimed,
  /** IP addresses, loopback left out. */
  addresses: z.array(z.string()),
});

export type HostEvidence = DeepReadonly<z.infer<typeof hostEvidence>>;

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
 * Identity of this start of the machine, or an empty string where the system has none (only Linux
 * has). Equal on both ends of a connection: one machine.
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
