import { groupBy } from './hosts-of-inventory.ts';
import { type HostSpec, hostKey, hostLabel, type Inventory } from './inventory/inventory.ts';
import type { Packages } from './packages/plan-packages.ts';

/** What would be done on a host. */
export interface PlannedHost {
  readonly host: string;
  readonly steps: readonly string[];
}

/** What `up` and `run` would do, by host and in order; no host is touched. */
export function describePlan(
  inventory: Inventory,
  packages: Packages,
  { isRun, output }: { readonly isRun: boolean; readonly output: string },
): PlannedHost[] {
  const { loadgen, nodes, tls } = inventory;
  const specs = [loadgen, ...nodes.map(({ host }) => host)];
  const hosts = [...groupBy(specs, hostKey)].map(([key, [spec]]): PlannedHost => {
    if (spec === undefined) return { host: '', steps: [] };
    const of = nodes.filter(({ host }) => hostKey(host) === key);
    const isLoadGen = hostKey(loadgen) === key;
    const entries = isLoadGen
      ? [loadgen, ...of.map(({ host }) => host)]
      : of.map(({ host }) => host);
    const reach = spec.ssh === undefined ? 'a shell of this machine' : `ssh ${spec.ssh}`;
    return {
      host: hostLabel(spec),
      steps: [
        `reach it by ${reach}, check Node.js, disk and folder ${spec.folder}`,
        ...new Set(entries.map((entry) => packageStep(entry, packages))),
        ...of.map(({ name, listen, settings, host }) => {
          const what = `start ${name}: ${String(settings['benchmark'])}, listening on ${listen}`;
          return `${what}${tls.kind === 'off' ? '' : ', mutual TLS'}${placement(host)}; wait until it is ready`;
        }),
      ],
    };
  });
  const addresses = nodes.map(({ address }) => address).join(', ');
  const last = [`ask every node for its name: ${addresses}`];
  if (isRun) {
    last.push(`run LoadGen: ${runText(inventory)}${placement(loadgen)}`);
    last.push(`fetch results and logs to ${output}, stop what was started`);
  }
  return [...hosts, { host: `${hostLabel(loadgen)} (LoadGen)`, steps: last }];
}

function packageStep({ source }: HostSpec, packages: Packages): string {
  if (source.kind === 'command') return `check ${source.command}`;
  const planned = packages.of(source);
  const how =
    source.kind === 'npm' ? 'npm install there' : 'with the dependencies of this installation';
  return `copy ${planned?.label ?? 'longhaul'} (${planned?.key ?? ''}) if it is not there, ${how}`;
}

function placement({ pin, nodeFlags }: HostSpec): string {
  const cpus = pin === undefined ? '' : `, on CPUs ${pin}`;
  return nodeFlags.length === 0 ? cpus : `${cpus}, with ${nodeFlags.join(' ')}`;
}

function runText({ run }: Inventory): string {
  return Object.entries(run)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
