import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import { type LinkConditions, linkText } from '../link/link-conditions.ts';
import { LinkShim } from '../link/link-shim.ts';
import { measureShim, type ShimmedLink } from '../link/measure-shim.ts';
import type { ShimCounts } from '../link/shim-messages.ts';
import { TcLink, whyNoTc } from '../link/tc-link.ts';
import type { SweepValues } from './sweep-settings.ts';

/** What makes the links of a sweep. */
export type ChosenLinkMaker =
  | { readonly with: 'shim'; readonly why: string | undefined; readonly seed: number }
  | { readonly with: 'tc'; readonly device: string };

/** A link as long as a cell is measured. */
export interface CellLink {
  /** The plan with what the link changes: addresses, division, mark. */
  readonly plan: RunPlan;
  /** Null where it is not the shim's. */
  readonly seen: ShimmedLink | null;
  counts(): Promise<ShimCounts | null>;
  stop(): Promise<void>;
}

/**
 * Decides what makes the links.
 * @throws MlperfError `ERR_CONFIG_INVALID`; `ERR_NOT_INSTALLED` where tc was asked for and cannot be used
 */
export async function chooseLinkMaker({
  with: asked,
  device,
  lossSeed,
}: SweepValues): Promise<ChosenLinkMaker> {
  if (asked === 'shim') {
    if (device === undefined) return { with: 'shim', why: undefined, seed: lossSeed };
    throw configInvalid('--device is for --with tc: a shim shapes no interface');
  }
  if (device === undefined) {
    if (asked === 'tc')
      throw configInvalid('--with tc needs --device: the interface that it may shape');
    const why = 'no --device was named that tc may shape';
    return { with: 'shim', why, seed: lossSeed };
  }
  const why = await whyNoTc(device);
  if (why === undefined) return { with: 'tc', device };
  if (asked === 'tc') throw new MlperfError('ERR_NOT_INSTALLED', why);
  return { with: 'shim', why, seed: lossSeed };
}

/** Puts a link between LoadGen and the nodes of a plan. @throws MlperfError */
export async function openLink(
  maker: ChosenLinkMaker,
  link: LinkConditions,
  plan: RunPlan,
): Promise<CellLink> {
  return maker.with === 'shim'
    ? await openShim(maker.seed, link, plan)
    : await openTc(maker.device, link, plan);
}

async function openShim(seed: number, link: LinkConditions, plan: RunPlan): Promise<CellLink> {
  const seen = await measureShim(link);
  const { dispatch } = plan;
  const shim = await LinkShim.start(dispatch.nodes, link, seed);
  const shaped: RunPlan = {
    ...asOpen(plan),
    dispatch: {
      ...asOpen(plan).dispatch,
      nodes: shim.addresses,
      security: {
        ...dispatch.security,
        tlsServerName: dispatch.security.tls ? serverName(plan) : undefined,
      },
    },
    linkMark: `a shim on the LoadGen node stood between it and the SUT (${linkText(link)}): a model of a link, not the network of the system`,
  };
  return {
    plan: shaped,
    seen,
    counts: () => shim.counts(),
    stop: () => shim.stop(),
  };
}

/** The nodes' certificates are for their own hosts, not for the relays. @throws MlperfError `ERR_CONFIG_INVALID` */
function serverName({ dispatch: { nodes, security } }: RunPlan): string {
  const hosts = new Set(nodes.map((address) => splitAddress(address)?.host ?? address));
  const [host] = hosts;
  if (security.tlsServerName !== undefined) return security.tlsServerName;
  if (hosts.size === 1 && host !== undefined) return host;
  throw configInvalid(
    'nodes on several hosts with TLS through a shim need one name in all certificates: --tls-server-name',
  );
}

async function openTc(device: string, link: LinkConditions, plan: RunPlan): Promise<CellLink> {
  const tc = await TcLink.start(device, link);
  return {
    plan: {
      ...asOpen(plan),
      linkMark: `tc shaped ${device} of the LoadGen node (${linkText(link)}): not the network of the system as it is`,
    },
    seen: null,
    counts: () => Promise.resolve(null),
    stop: () => tc.stop(),
  };
}

/**
 * No network that a submission could name has these conditions. Rule: inference_rules v4.1, "Non-conforming network submission
 * should be submitted to Open category".
 */
function asOpen(plan: RunPlan): RunPlan {
  return { ...plan, division: 'open', dispatch: { ...plan.dispatch, division: 'open' } };
}
