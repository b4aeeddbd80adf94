import { PERMITTED_FABRICS, TODO_MARK } from '../../tree/system-fields.ts';
import type { CheckContext } from '../read/check-context.ts';
import type { JsonObject } from '../read/description-values.ts';
import { textOf } from '../read/description-values.ts';

/** Interconnects that are buses. Source: inference_rules v4.1, examples of forbidden ones. */
const BUS =
  /\b(?:PCI(?:e|[\s-]?Express)?|CXL|CCIX|Hyper-?Transport|NVLink|NVSwitch|QPI|UPI|ICI)\b/i;

/** Keys that say what joins the systems; cards may well sit on a bus of their own host. */
const LINK_KEYS = ['network_type', 'network_media', 'network_protocol'];

/** The fabric between LoadGen node and SUT nodes is one of those that are permitted, and no bus. */
export function checkFabric(
  { findings }: CheckContext,
  path: string,
  description: JsonObject,
): void {
  const type = textOf(description['network_type']);
  const isStated = type.trim() !== '' && !type.startsWith(TODO_MARK);
  const isPermitted = PERMITTED_FABRICS.some((fabric) =>
    type.toLowerCase().includes(fabric.toLowerCase()),
  );
  const bus = LINK_KEYS.map((key) => [key, textOf(description[key])] as const).find(([, value]) =>
    BUS.test(value),
  );
  if (bus !== undefined) {
    findings.add('bus-interconnect', path, `${bus[0]} is "${bus[1]}".`);
  } else if (isStated && !isPermitted) {
    const text = `network_type is "${type}", none of ${PERMITTED_FABRICS.join(', ')}.`;
    findings.add('fabric-not-permitted', path, text);
  }
}
