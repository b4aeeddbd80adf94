import type { SubmissionDivision } from '../../rules/submission-rounds.ts';
import { NETWORK_FIELDS } from '../../tree/system-fields.ts';
import type { PlannedSystem } from './plan-types.ts';

const NETWORK_KEYS = new Set(NETWORK_FIELDS.map(({ key }) => key));

/**
 * Fields of `systems/<system>.json` in a division. `is_network` is the text "True" (the JSON value crashes
 * official checkers) in network; closed is better off without any of the network's keys, as a checker asks for all
 * of them where it finds one; open keeps what the description has.
 */
export function systemFields(
  { fields }: PlannedSystem,
  division: SubmissionDivision,
  submitter: string,
): Record<string, unknown> {
  const { is_network, ...rest } = fields;
  const own = { ...rest, division, submitter };
  if (division === 'network') return { ...own, is_network: 'True' };
  const isNetwork = division === 'open' && String(is_network).toLowerCase() === 'true';
  if (isNetwork) return { ...own, is_network: 'True' };
  return Object.fromEntries(Object.entries(own).filter(([key]) => !NETWORK_KEYS.has(key)));
}
