import type { ProbedDescription } from '../../../shared/evidence/node-probe.ts';
import type { ComponentVersion } from '../../../shared/host/component-versions.ts';
import {
  agreedVersion,
  OWN_VERSIONS,
  toldVersions,
  versionsInWords,
} from '../../../shared/wire/protocol-versions.ts';
import { type DoctorFinding, subject } from './finding.ts';

/** The software of the LoadGen node. */
export interface OwnSoftware {
  /** longhaul and what it runs on. */
  readonly components: readonly ComponentVersion[];
  /** Kind and release of the kernel. */
  readonly operatingSystem: string;
}

/** Software of a node beside ours. No clocks are compared in a run, so their difference is no finding. */
export function versionFindings(own: OwnSoftware, node: ProbedDescription | null): DoctorFinding[] {
  const about = subject('versions', 'Versions');
  if (node === null) return [about.unknown('the node does not describe itself (no such call)')];
  return [
    protocol(node),
    versions(own, node),
    ...(own.operatingSystem === node.operatingSystem
      ? []
      : [
          subject('kernel', 'Kernel').ok(
            `here ${own.operatingSystem}, there ${node.operatingSystem === '' ? 'not told' : node.operatingSystem}`,
          ),
        ]),
  ];
}

function protocol(node: ProbedDescription): DoctorFinding {
  const about = subject('protocol', 'Protocol');
  const theirs = toldVersions(node);
  const agreed = agreedVersion(theirs);
  return agreed === undefined
    ? about.error(
        `here ${versionsInWords(OWN_VERSIONS)}, there ${versionsInWords(theirs)}`,
        'install the same longhaul on both machines (docs/upgrade.md)',
      )
    : about.ok(`version ${agreed} on both ends`);
}

function versions({ components }: OwnSoftware, node: ProbedDescription): DoctorFinding {
  const about = subject('versions', 'Versions');
  const theirs = new Map(node.components.map(({ name, version }) => [name, version]));
  theirs.set(node.software, node.softwareVersion);
  const differing = components
    .filter(({ name, version }) => theirs.has(name) && theirs.get(name) !== version)
    .map(({ name, version }) => `${name} ${version} here, ${theirs.get(name)} there`);
  const ours = components.find(({ name }) => name === 'longhaul')?.version;
  if (node.software !== 'longhaul')
    return about.ok(`the node runs ${node.software} ${node.softwareVersion}`);
  if (differing.length === 0)
    return about.ok(`longhaul ${ours} and all it runs on, the same on both ends`);
  return node.softwareVersion === ours
    ? about.ok(differing.join('; '))
    : about.warning(
        differing.join('; '),
        'install the same longhaul on both machines: npm ci of one commit',
      );
}
