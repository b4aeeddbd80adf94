import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { checkHost } from './host-checks.ts';
import { allOrErrors, ask, type HostSession, hostError } from './host-session.ts';
import {
  groupBy,
  type Hosts,
  type InstallContext,
  type RemoteContext,
  reportOf,
} from './hosts-of-inventory.ts';
import { type HostSpec, hostKey } from './inventory/inventory.ts';
import type { Installed } from './launch-plans.ts';
import type { PlannedPackage } from './packages/plan-packages.ts';

const MIB = 1 << 20;

/**
 * Checks every host, and brings the packages to those that do not have them.
 * @returns longhaul on the host of an entry
 * @throws MlperfError `ERR_HOST` with a line per host
 */
export async function installPackages(
  context: InstallContext,
  hosts: Hosts,
): Promise<(spec: HostSpec) => Installed> {
  const tasks = groupBy(hosts.specs, hostKey);
  const planOf = ({ source }: HostSpec): PlannedPackage | undefined => context.packages.of(source);
  await allOrErrors(
    [...tasks.values()].map(async (specs) => {
      const [spec] = specs;
      if (spec === undefined) return;
      checkHost(
        hosts.of(spec),
        specs.map((one) => [one, planOf(one)] as const),
      );
    }),
  );
  const mains = new Map<string, string>();
  await allOrErrors(
    [...tasks.values()].map(async (specs) => {
      const [spec] = specs;
      if (spec === undefined) return;
      const session = hosts.of(spec);
      // One after the other: two installers would write over each other's caches.
      const wanted = new Map(
        specs.flatMap((one) => {
          const planned = planOf(one);
          return planned === undefined ? [] : [[planned.key, planned] as const];
        }),
      );
      for (const planned of wanted.values()) {
        mains.set(`${hostKey(spec)} ${planned.key}`, await installOn(context, session, planned));
      }
    }),
  );
  return (spec) => {
    const planned = planOf(spec);
    const { facts } = hosts.of(spec);
    return { facts, main: planned && mains.get(`${hostKey(spec)} ${planned.key}`) };
  };
}

async function installOn(
  context: RemoteContext,
  session: HostSession,
  { key, label, how, main, file }: PlannedPackage,
): Promise<string> {
  const { facts, label: host } = session;
  const there = facts.installs[key];
  if (there !== undefined) {
    reportOf(context, session, `${label} is installed there already`);
    return there;
  }
  const { folder } = facts;
  const { path, bytes, sha256 } = await file();
  // Of its own: the same machine may be two hosts of an inventory.
  const name = `${key}-${randomBytes(4).toString('hex')}.tgz`;
  const beganMs = performance.now();
  await ask(
    session,
    { verb: 'put', folder, file: name, bytes, sha256 },
    { payload: createReadStream(path) },
  );
  reportOf(
    context,
    session,
    `copied ${label}: ${(bytes / MIB).toFixed(1)} MiB in ${seconds(beganMs)}, SHA-256 checked`,
  );
  const beganInstallMs = performance.now();
  const timeoutMs = context.inventory.installTimeoutMs;
  const events = await ask(session, {
    verb: 'install',
    folder,
    key,
    file: name,
    how,
    main,
    timeoutMs,
  });
  const installed = events.find((event) => event.event === 'installed');
  if (installed === undefined) throw hostError(host, 'the installation did not say where it is');
  const what = how === 'npm' ? 'installed by npm' : 'unpacked';
  reportOf(context, session, `${label} ${what} in ${seconds(beganInstallMs)}`);
  return installed.main;
}

function seconds(beganMs: number): string {
  return `${((performance.now() - beganMs) / 1e3).toFixed(1)} s`;
}
