import { join } from 'node:path';
import type { VerbResult } from '../../../shared/base/process/json-output.ts';
import { describePlan, type PlannedHost } from './describe-plan.ts';
import type { InstallContext } from './hosts-of-inventory.ts';
import type { Inventory } from './inventory/inventory.ts';
import type { Measured } from './measure.ts';
import type { HostReport } from './take-down.ts';

const GIB = 1 << 30;

/** Where a run goes that nobody named. */
export function outputFolder(now: Date = new Date()): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return join('results', `remote-${stamp}-${process.pid}`);
}

/** The end of `up`. */
export function upText({ path, nodes }: Inventory): string {
  const names = nodes.map(({ name, address }) => `${name} at ${address}`).join(', ');
  return `up: ${names}\nlonghaul remote --inventory ${path} run measures, down stops\n`;
}

/** What `up` and `run` would do. */
export function planResult(
  { inventory, packages }: InstallContext,
  options: Parameters<typeof describePlan>[2],
): VerbResult {
  const plan = describePlan(inventory, packages, options);
  return { text: planText(plan), json: { plan } };
}

/** A plan, a host after the other. */
function planText(plan: readonly PlannedHost[]): string {
  return plan
    .map(({ host, steps }) => `${host}\n${steps.map((step) => `  ${step}\n`).join('')}`)
    .join('');
}

/** What runs on every host. */
export function hostsText(hosts: readonly HostReport[]): string {
  return hosts
    .map(({ host, hostname, nodeVersion, freeBytes, isInstalled, processes }) => {
      const free = `${(freeBytes / GIB).toFixed(1)} GiB free`;
      const head = `${host}: ${hostname}, Node.js ${nodeVersion}, ${free}, ${packageText(isInstalled)}\n`;
      const lines = processes.map(({ name, kind, processId, since, state, isInInventory }) => {
        const what = kind === 'sut' ? `SUT node ${name}` : `LoadGen ${name}`;
        const other = isInInventory ? '' : ', not in this inventory';
        return `  ${what}: ${state}, process ${processId}, since ${since}${other}\n`;
      });
      return head + (lines.length === 0 ? '  nothing runs\n' : lines.join(''));
    })
    .join('');
}

function packageText(isInstalled: boolean | null): string {
  if (isInstalled === null) return 'package installed or not: not known';
  return isInstalled ? 'package installed' : 'package not installed';
}

/** The end of `run`: what LoadGen said, with the folder as it is called here. */
export function runText(
  said: string,
  measured: Measured & { readonly output: string },
  isJson: boolean,
): VerbResult {
  const { output, remoteOutput, exitCode, fetched, warnings } = measured;
  // A function: "$&" in the name of a folder is no pattern.
  const asHere = (text: string): string => text.replaceAll(remoteOutput, () => output);
  const run = isJson ? documentOf(said, asHere) : null;
  return { text: asHere(said), json: { exitCode, output, fetched, warnings, run } };
}

/** LoadGen's document, or that of its error; null where it said none. */
function documentOf(said: string, asHere: (text: string) => string): unknown {
  try {
    return JSON.parse(said, (_, value: unknown) =>
      typeof value === 'string' ? asHere(value) : value,
    ) as unknown;
  } catch {
    return null;
  }
}
