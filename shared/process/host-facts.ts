import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/**
 * Identity of this start of the machine, or an empty string where the system tells none (only Linux
 * does). Equal on both ends of a connection: one machine.
 */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux, or a sandbox without /proc: unknown is an answer, too.
    return '';
  }
}

/** Addresses of this machine, loopback left out. */
export function hostAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((entry) => !entry.internal)
    .map((entry) => entry.address);
}
