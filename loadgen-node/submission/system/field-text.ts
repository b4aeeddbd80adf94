import type { NicFacts } from '../../../shared/host/system-facts.ts';
import { TODO_MARK } from '../tree/system-fields.ts';

/** Stands for a value that nobody could read. @param wanted What the submitter has to write, for a person. */
export function todo(wanted: string): string {
  return `${TODO_MARK}: ${wanted}`;
}

/** True for a value that the submitter has to fill in. */
export function isTodo(value: string): boolean {
  return value.startsWith(TODO_MARK);
}

/** The texts that say something. */
export function present(texts: readonly (string | number | null)[]): string[] {
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

/** Memory as it is sold: powers of 1024, named as the examples of the rules name them. */
export function memoryText(bytes: number): string {
  if (bytes >= 1024 ** 4) return `${rounded(bytes / 1024 ** 4)} TB`;
  return bytes >= 1024 ** 3
    ? `${rounded(bytes / 1024 ** 3)} GB`
    : `${rounded(bytes / 1024 ** 2)} MB`;
}

/** Disks as they are sold: powers of 1000. */
export function storageText(bytes: number): string {
  return bytes >= 1e12 ? `${rounded(bytes / 1e12)} TB` : `${rounded(bytes / 1e9)} GB`;
}

/** Caches, as the examples of the rules write them. */
export function cacheText(bytes: number): string {
  return bytes >= 1024 ** 2 ? `${rounded(bytes / 1024 ** 2)}MB` : `${rounded(bytes / 1024)}KB`;
}

/** Rate of a link as `network_rate` names it: `100G`, `2.5G`, `100M`. */
export function networkRateText(mbps: number): string {
  return mbps >= 1000 ? `${rounded(mbps / 1000)}G` : `${rounded(mbps)}M`;
}

/** A card by its model, or what stands for it, and the rate of its link: `ConnectX-6 Dx (mlx5_core), 100G`. */
export function nicText(nic: NicFacts): string {
  const rate = nic.speedMbps === null ? '' : `, ${networkRateText(nic.speedMbps)}`;
  return `${nicModelText(nic)}${rate}`;
}

/** A card by its model and driver. */
export function nicModelText({ model, pciId, driver, backing, fabric }: NicFacts): string {
  const made = backing === 'hypervisor' ? 'card of a hypervisor' : `${fabric ?? 'network'} card`;
  const name = model ?? (pciId === null ? made : `${made} ${pciId}`);
  return driver === null ? name : `${name} (driver ${driver})`;
}

/** Equal texts counted: `2x A + B`. */
export function countedText(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => (count === 1 ? text : `${count}x ${text}`)).join(' + ');
}

function rounded(amount: number): string {
  return String(Number(amount.toFixed(amount < 10 ? 2 : 1)));
}
