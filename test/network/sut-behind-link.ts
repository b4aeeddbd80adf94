import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SutNamespace } from '../../loadgen-node/search/sweep/sweep-link.ts';
import { whyNoNetem } from '../../loadgen-node/search/sweep/tc-link.ts';

/** Why no network namespace can be made here, or undefined when one can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!hasCommand('ip')) return 'needs the command ip (package iproute2)';
  if (!existsSync('/dev/net/tun') && !hasCommand('tc')) return 'needs /dev/net/tun or tc';
  return undefined;
}

function hasCommand(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

/** A network namespace for a SUT node behind a link, by netem where the kernel has it. */
export async function sutBehindLink(
  oneWayMs: number,
  rateMbit: number,
): Promise<{ readonly space: SutNamespace; readonly kind: 'netem' | 'tap' }> {
  const kind = (await whyNoNetem()) === undefined ? 'netem' : 'tap';
  const space = await SutNamespace.make({ with: kind, lossSeed: 0 });
  await space.shape({ delayNs: oneWayMs * 1e6, bitsPerSecond: rateMbit * 1e6, lossShare: 0 });
  return { space, kind };
}
