import { cpus, hostname, networkInterfaces, release, totalmem, type } from 'node:os';
import { z } from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { ownText } from './machine-source.ts';

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
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return {
    hostname: hostname(),
    // Only Linux has one. Equal on both ends of a connection: one machine.
    bootId: ownText('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
    operatingSystem: `${type()} ${release()}`,
    cpuModel: processors[0]?.model ?? 'unknown',
    cpuCount: processors.length,
    memoryBytes: totalmem(),
    addresses: interfaces.filter(({ internal }) => !internal).map(({ address }) => address),
  };
};
