import { protocolNamed } from '../../../../qdl/protocols/index.ts';
import { recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import type { NetworkAudit } from '../../../observe/network-audit.ts';
import { SOFTWARE_METHODS, type SoftwareEntry } from '../config/read-submission-config.ts';
import { softwareBreach } from '../plan/plan-submission.ts';
import type { PlannedResult } from '../plan/read-results.ts';
import type { PlannedImplementation } from '../plan/read-system.ts';
import { document, table } from './markdown.ts';

type Results = readonly PlannedResult[];

/** A component in software.md. */
interface Component extends SoftwareEntry {
  /** `stated`, and the ends of a run with the component. */
  readonly from: readonly string[];
}

/** software.md: every component, and the method by which others can get it. */
export function softwareText(system: string, status: string, results: Results): string {
  const rows = componentsOf(results).map((component) => {
    const { name, version = '', method, identifier, from } = component;
    const place = method === 'included' ? 'this tree' : `${name} ${version}`.trim();
    const isAllowed = softwareBreach(component, status) === undefined;
    const { title } = SOFTWARE_METHODS[method];
    return [name, version, title, identifier ?? place, from.join(', '), isAllowed ? 'yes' : 'NO'];
  });
  return document(
    `# Software of ${system}`,
    `Category of the system: **${status}**. Source: submission_rules, "Possible methods to provide Software".`,
    table(
      ['component', 'version', 'method', 'identified by', 'from', `allowed for ${status}`],
      rows,
    ),
    status.toLowerCase() === 'available'
      ? ''
      : 'Private components of a preview system are to be available in the next submission after 140 days, or by the next submission date, whichever is longer.',
    'Components that the nodes told of themselves are released binaries unless the submitter states another method for their name.',
    ...weightsText(results),
  );
}

/** Stated components, and those of both ends in network_audit.json; statements take precedence. */
function componentsOf(results: Results): Component[] {
  const components = new Map<string, Component>();
  for (const { implementation } of results) {
    for (const software of implementation.entry.software) {
      components.set(keyOf(software), { ...software, from: ['stated'] });
    }
  }
  const stated = [...components.values()];
  for (const { name, version, from, identifier } of results.flatMap(toldComponents)) {
    const same = stated.find(
      (one) =>
        one.name.toLowerCase() === name.toLowerCase() && (one.version ?? version) === version,
    );
    const key = keyOf(same ?? { name, version });
    const before = components.get(key);
    const ends = same === undefined ? (before?.from ?? []) : same.from;
    const known = same === undefined ? (identifier ?? before?.identifier) : same.identifier;
    components.set(key, {
      ...(same ?? { name, method: 'binary' }),
      version,
      from: [...new Set([...ends, from])],
      identifier: known ?? identifier,
    });
  }
  return [...components.values()];
}

function keyOf({ name, version }: Pick<SoftwareEntry, 'name' | 'version'>): string {
  return `${name} ${version ?? ''}`;
}

/** Software of one end of a run, from network_audit.json. */
interface End
  extends Pick<NetworkAudit['loadgenNode'], 'software' | 'softwareVersion' | 'components'> {
  readonly from: string;
  readonly identifier?: string | undefined;
}

function toldComponents({ runs }: PlannedResult) {
  const { audit } = runs.performance;
  if (audit === undefined) return [];
  const { nameCall } = protocolNamed(audit.run.protocol).words;
  const nodes = audit.nodes.flatMap((node): End[] => {
    const { address, description } = node;
    const { server } = node;
    if (server === undefined) {
      return description === null ? [] : [{ ...description, from: `SUT node ${description.name}` }];
    }
    const { serverName: software, serverVersion: softwareVersion } = server;
    const from = `SUT node ${address}, by ${nameCall}`;
    return software === '' ? [] : [{ software, softwareVersion, components: [], from }];
  });
  const loadgen = { ...audit.loadgenNode, from: 'LoadGen node', identifier: filesOf(runs) };
  return [loadgen, ...nodes].flatMap(
    ({ software, softwareVersion, components, from, identifier }: End) => [
      { name: software, version: softwareVersion, from, identifier },
      ...components.map(({ name, version }) => ({ name, version, from, identifier: undefined })),
    ],
  );
}

/**
 * Identification of longhaul's files in a run, from its log: a version name identifies a release,
 * but not a build.
 */
function filesOf({ performance }: PlannedResult['runs']): string | undefined {
  const hash = recordOf(performance, 'longhaul_files_sha256');
  if (hash === undefined) return undefined;
  return `SHA-256 of its files ${String(hash)}, ${String(recordOf(performance, 'longhaul_files_state'))}`;
}

/** Source: submission_rules, "Weights (please notify results chair if > 2 GB combined)". */
const NOTIFY_BYTES = 2e9;

function weightsText(results: Results): string[] {
  const implementations = new Set(results.map(({ implementation }) => implementation));
  const weights = [...implementations].flatMap((one) => one.weights);
  if (weights.length === 0) return [];
  const rows = weights.map(({ name, bytes, sha256, file, source }) => [
    name,
    bytes === undefined ? 'not stated' : String(bytes),
    `\`${sha256}\``,
    file === undefined ? (source ?? '') : 'in this tree',
  ]);
  const sum = bytesOf(weights);
  return [
    '## Weights',
    table(['file', 'bytes', 'SHA-256', 'where'], rows),
    sum > NOTIFY_BYTES
      ? `**Together ${sum} bytes, above 2 GB: the results chair is to be notified (submission_rules).**`
      : '',
  ];
}

/** Notice if the total size of a division's weights is large; otherwise undefined. */
export function weightsNotice(implementations: Iterable<PlannedImplementation>) {
  const all = [...new Set(implementations)];
  const sum = bytesOf(all.flatMap(({ weights }) => weights));
  if (sum <= NOTIFY_BYTES) return undefined;
  const names = all.map(({ id }) => id).join(', ');
  return `the weights of ${names} have ${sum} bytes, above 2 GB: notify the results chair (submission_rules)`;
}

/** Total size of weights; a file shared by several implementations counts once. */
function bytesOf(weights: PlannedImplementation['weights']): number {
  const files = new Map(weights.map(({ sha256, bytes }) => [sha256, bytes ?? 0]));
  return [...files.values()].reduce((total, bytes) => total + bytes, 0);
}
