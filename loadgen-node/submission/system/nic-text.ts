import type { NicFacts } from '../../../shared/host/system-facts.ts';
import { linkRateText } from './field-text.ts';

/** A card by its model, or what stands for it, and the rate of its link: `ConnectX-6 Dx (mlx5_core), 100G`. */
export function nicText(nic: NicFacts): string {
  const rate = nic.speedMbps === null ? '' : `, ${linkRateText(nic.speedMbps)}`;
  return `${nicModelText(nic)}${rate}`;
}

/** A card by its model and driver. */
export function nicModelText({ model, pciId, driver, backing, fabric }: NicFacts): string {
  const made = backing === 'hypervisor' ? 'card of a hypervisor' : `${fabric ?? 'network'} card`;
  const name = model ?? (pciId === null ? made : `${made} ${pciId}`);
  return driver === null ? name : `${name} (driver ${driver})`;
}
