import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import { call, whyNoNetem } from './link-commands.ts';
import type { NamespaceLinkMaker } from './sut-namespace.ts';
import type { SweepValues } from './sweep-settings.ts';
import { whyNoTc } from './tc-link.ts';

/** What makes the links of a sweep: `tc` on an interface of the user, or a link to a namespace with a node of the sweep's own. */
export type ChosenLinkMaker = { readonly with: 'tc'; readonly device: string } | NamespaceLinkMaker;

/**
 * Decides what makes the links, and looks whether this machine can make them.
 * @param sut Addresses of the user's nodes; empty: sweep starts one.
 * @throws MlperfError `ERR_CONFIG_INVALID`; `ERR_NOT_INSTALLED` naming everything that is missing
 */
export async function chooseLinkMaker(
  { with: asked, device, lossSeed }: SweepValues,
  sut: readonly string[],
): Promise<ChosenLinkMaker> {
  if (sut.length > 0) return await chooseDevice(asked, device, sut);
  if (device !== undefined) {
    throw configInvalid('--device is for --sut: a node that sweep starts has a link of its own');
  }
  const missing = missingForNamespaces();
  const noNetem = missing.length > 0 ? undefined : await whyNoNetem();
  const isTap = asked === 'tap' || (asked === 'auto' && noNetem !== undefined);
  if (isTap) missing.push(...missingForTap(noNetem));
  else if (noNetem !== undefined) missing.push(`${noNetem}; --with tap needs none`);
  if (missing.length > 0) throw lacking(missing);
  return isTap ? { with: 'tap', lossSeed } : { with: 'netem' };
}

async function chooseDevice(
  asked: SweepValues['with'],
  device: string | undefined,
  sut: readonly string[],
): Promise<ChosenLinkMaker> {
  if (asked === 'tap') {
    throw configInvalid('--with tap makes a link to a node that sweep starts: leave --sut out');
  }
  if (device === undefined) {
    const host = splitAddress(sut[0] as string)?.host ?? '';
    const [, way] = / dev (\S+)/.exec((await call('ip', ['route', 'get', host])).text) ?? [];
    const hint = way === undefined ? '' : ` (${host} is reached by ${way})`;
    throw configInvalid(
      `--sut needs --device: the network interface that leads to it and that tc may shape${hint}; without --sut a node is started on this machine`,
    );
  }
  const missing = isRoot() ? await whyNoTc(device) : NO_ROOT;
  if (missing !== undefined) throw lacking([missing]);
  return { with: 'tc', device };
}

const NO_ROOT = 'root (start it with sudo)';

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Commands that links to a namespace are made with, and the packages that have them. */
const COMMANDS = { ip: 'iproute2', unshare: 'util-linux', nsenter: 'util-linux' };

function missingForNamespaces(): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const commands = Object.entries(COMMANDS).filter(([name]) => !hasCommand(name));
  return [
    ...(isRoot() ? [] : [NO_ROOT]),
    ...commands.map(([name, from]) => `the command ${name} (package ${from})`),
  ];
}

/** @param noNetem Why a link in user space is what is left; undefined where it was asked for. */
function missingForTap(noNetem: string | undefined): string[] {
  const missing = [
    ...(hasCommand('python3') ? [] : ['the command python3']),
    ...(existsSync('/dev/net/tun') ? [] : ['/dev/net/tun (kernel module tun)']),
  ];
  if (missing.length === 0) return [];
  const why = noNetem === undefined ? '' : ` (${noNetem})`;
  return missing.map((one) => `${one}, for a link in user space${why}`);
}

function hasCommand(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

function lacking(missing: readonly string[]): MlperfError {
  return new MlperfError(
    'ERR_NOT_INSTALLED',
    `sweep shapes the link by tc and network namespaces of Linux, as root. Missing here: ${missing.join('; ')}`,
  );
}
