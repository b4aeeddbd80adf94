import type { HostFacts } from './agent/agent-words.ts';
import { type HostSession, hostError } from './host-session.ts';
import type { HostSpec, Inventory } from './inventory/inventory.ts';
import type { PlannedPackage } from './packages/plan-packages.ts';

/** What an installation may need: package, dependencies, and what npm keeps while it works. */
const FREE_BYTES_MIN = 1 << 30;
const GIB = 1 << 30;

/** What a host needs for its task and lacks, one sentence each. */
function lacksOf(spec: HostSpec, facts: HostFacts, planned?: PlannedPackage): string[] {
  const lacks: string[] = [];
  if (facts.folderProblem !== '')
    lacks.push(`${facts.folderProblem}: say "folder" in the inventory`);
  if (!facts.hasTar) lacks.push('there is no program tar: install it');
  if (spec.pin !== undefined && !facts.hasTaskset) {
    lacks.push('"pin" needs the program taskset (package util-linux)');
  }
  if (spec.source.kind === 'command' && facts.commandVersion === '') {
    lacks.push(`${spec.source.command} --version does not answer: is longhaul installed there?`);
  }
  if (planned !== undefined && facts.installs[planned.key] === undefined) {
    lacks.push(...installLacks(facts, planned));
  }
  return lacks;
}

function installLacks(facts: HostFacts, planned: PlannedPackage): string[] {
  const lacks: string[] = [];
  if (facts.freeBytes < FREE_BYTES_MIN) {
    const free = (facts.freeBytes / GIB).toFixed(2);
    lacks.push(`${free} GiB are free for ${facts.folder}: an installation needs 1 GiB`);
  }
  if (planned.how === 'npm' && !facts.hasNpm) {
    lacks.push('there is no npm beside its Node.js: install it, or use "install: copy"');
  }
  const { platform, arch, versions } = process;
  const major = versions.node.split('.')[0];
  const isAlike =
    facts.platform === platform && facts.arch === arch && facts.nodeVersion.startsWith(`${major}.`);
  if (planned.how === 'copy' && !isAlike) {
    const theirs = `${facts.platform} ${facts.arch} with Node.js ${facts.nodeVersion}`;
    lacks.push(
      `it is ${theirs}, this machine is ${platform} ${arch} with ${versions.node}: "install: copy" needs the same, "install: npm" does not`,
    );
  }
  return lacks;
}

/** @throws MlperfError `ERR_HOST` with a line for each thing that a host lacks */
export function checkHost(
  { label, facts }: HostSession,
  tasks: readonly (readonly [HostSpec, PlannedPackage | undefined])[],
): void {
  const lacks = tasks.flatMap(([spec, planned]) => lacksOf(spec, facts, planned));
  if (lacks.length === 0) return;
  throw hostError(label, [...new Set(lacks)].join('; '));
}

/** What the audit will say about the places of the halves, before the run is made. */
export function topologyWarnings(
  { nodes }: Inventory,
  sessionOf: (spec: HostSpec) => HostSession,
  loadgen: HostSession,
): string[] {
  const { bootId } = loadgen.facts;
  if (bootId === '') return [];
  const same = nodes.filter(({ host }) => sessionOf(host).facts.bootId === bootId);
  if (same.length === 0) return [];
  const names = same.map(({ name }) => name).join(', ');
  return [
    `LoadGen and ${names} are on one machine (${loadgen.facts.hostname}): not a topology of the Network division`,
  ];
}
