import { asOneLine } from '../../../shared/base/text/one-line.ts';
import type { NodeProbe } from '../../../shared/evidence/node-probe.ts';
import { pathSigns } from '../../run/audit/path-rules.ts';
import { type DoctorFinding, subject } from './finding.ts';

const GO_DIRECTLY =
  "name the node by an address of its own: the pod's in a headless Service, without sidecar, proxy or port forwarding " +
  '(docs/what-stands-between.md)';

/** What stands between LoadGen and a node, as one call of Name and some new connections show it. */
export function betweenFinding({ path, identities }: NodeProbe): DoctorFinding {
  const about = subject('between', 'What stands between');
  if (identities.length > 1) {
    const seen = `${identities.length} SUT nodes answer at this address: a load balancer (ClusterIP, virtual IP, proxy)`;
    return about.error(seen, GO_DIRECTLY);
  }
  const signs = pathSigns(path);
  const text = asOneLine(signs.map((sign) => sign.text).join('; '));
  if (signs.some(({ kind }) => kind === 'repeated' || kind === 'compressed')) {
    return about.error(text, `switch that off there, or ${GO_DIRECTLY}`);
  }
  if (signs.some(({ kind }) => kind === 'proxy' || kind === 'address')) {
    return about.warning(text, GO_DIRECTLY);
  }
  return signs.length > 0
    ? about.unknown(text, 'install the same longhaul on both machines')
    : about.ok('nothing: both ends have the same addresses and ports, and no header was added');
}
