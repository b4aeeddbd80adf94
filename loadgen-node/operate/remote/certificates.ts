import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { RunHost } from '../../run/host/host.ts';
import type { Inventory } from './inventory/inventory.ts';

const MADE_FOR = 'made-for.json';
const DAY_MS = 86_400_000;

/** Files of one holder, by name: tls.crt, tls.key, ca.crt and, where there is one, token. */
export type TlsFiles = Readonly<Record<string, string>>;

/** What goes to whom; undefined: no TLS. */
export interface Certificates {
  readonly loadgen: TlsFiles;
  readonly nodes: ReadonlyMap<string, TlsFiles>;
}

/**
 * Reads the certificates of an inventory, after making them where that is asked for and needed.
 * @param host Takes what was made.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_NOT_INSTALLED`, `ERR_OUTPUT`
 */
export function provideCertificates(
  { tls, nodes }: Inventory,
  host: Pick<RunHost, 'report'>,
): Certificates | undefined {
  if (tls.kind === 'off') return undefined;
  const { folder } = tls;
  const hosts = Object.fromEntries(
    nodes.map(({ name, address }) => [name, splitAddress(address)?.host ?? address]),
  );
  if (tls.kind === 'made' && !areGood(folder, hosts)) {
    make(folder, hosts);
    const whose = Object.values(hosts).join(', ');
    host.report(`certificates for ${whose} and a token are in ${folder}`);
  }
  return {
    loadgen: readHolder(folder, 'loadgen'),
    nodes: new Map(nodes.map(({ name }) => [name, readHolder(folder, name)])),
  };
}

function areGood(folder: string, hosts: Readonly<Record<string, string>>): boolean {
  try {
    if (readFileSync(join(folder, MADE_FOR), 'utf8') !== JSON.stringify(hosts)) return false;
    return ['loadgen', ...Object.keys(hosts)].every((name) => {
      const certificate = new X509Certificate(readHolder(folder, name)['tls.crt'] ?? '');
      return Date.parse(certificate.validTo) > Date.now() + DAY_MS;
    });
  } catch {
    return false;
  }
}

function make(folder: string, hosts: Readonly<Record<string, string>>): void {
  const script = join(dirname(distFolder()), 'deploy', 'certificates', 'make-certificates.sh');
  if (!existsSync(script)) {
    const message = `tls: made needs ${script}, which this installation lacks: install longhaul again`;
    throw new MlperfError('ERR_NOT_INSTALLED', message);
  }
  const nodes = Object.entries(hosts).flatMap(([name, host]) => ['--sut', `${name}=${host}`]);
  const made = spawnSync('sh', [script, folder, ...nodes], { encoding: 'utf8' });
  if (made.status !== 0) {
    const why = made.error?.message ?? made.stderr.trim().split('\n').at(-1) ?? '';
    throw new MlperfError('ERR_OUTPUT', `certificates cannot be made in ${folder}: ${why}`);
  }
  writeFileSync(join(folder, MADE_FOR), JSON.stringify(hosts));
}

/** @throws MlperfError `ERR_CONFIG_INVALID` */
function readHolder(folder: string, name: string): TlsFiles {
  const own = join(folder, name);
  const files: Record<string, string> = {};
  for (const file of ['tls.crt', 'tls.key', 'ca.crt', 'token']) {
    const path = join(own, file);
    if (existsSync(path)) files[file] = readFileSync(path, 'utf8');
    else if (file !== 'token') {
      const message = `tls: ${path} is missing: make-certificates.sh ${folder} --sut ${name}=HOST makes it`;
      throw new MlperfError('ERR_CONFIG_INVALID', message);
    }
  }
  return files;
}
