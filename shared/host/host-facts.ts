import { cpus, hostname, networkInterfaces, release, totalmem, type } from 'node:os';
import { z } from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { ownText } from './machine-source.ts';

/** A number reported by a node: any 64-bit value, rounded above 2^53 when it was decoded. */
export const claimed = z
  .number()
  .min(0)
  .max(2 ** 64)
  .refine(Number.isInteger, 'must be a whole number');

/** A machine as it describes itself, in Describe and in the evidence. */
export const hostEvidence = z.object({
  hostname: z.string(),
  /** Changes at every boot; empty if the system has none. */
  bootId: z.string(),
  operatingSystem: z.string(),
  cpuModel: z.string(),
  cpuCount: z.int().min(0),
  /** Any 64-bit value for a foreign node, rounded above 2^53. */
  memoryBytes: claimed,
  /** IP addresses without loopback. */
  addresses: z.array(z.string()),
});

export type HostEvidence = DeepReadonly<z.infer<typeof hostEvidence>>;

/**
 * Returns this machine's identity. An interface, because a test has only one machine; no user
 * option changes it.
 */
export type HostIdentity = () => HostEvidence;

/** This machine. */
export const thisHost: HostIdentity = () => {
  const processors = cpus();
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return {
    hostname: hostname(),
    // Linux only. Equal on both ends of a connection if they are one machine.
    bootId: ownText('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
    operatingSystem: `${type()} ${release()}`,
    cpuModel: processors[0]?.model ?? 'unknown',
    cpuCount: processors.length,
    memoryBytes: totalmem(),
    addresses: interfaces.filter(({ internal }) => !internal).map(({ address }) => address),
  };
};
