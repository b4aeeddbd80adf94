import type { NetworkEntry } from '../config/read-submission-config.ts';
import { LOADGEN_END, linksOf } from '../plan/network-diagram.ts';
import type { PlannedResult } from '../plan/read-results.ts';
import type { PlannedSystem } from '../plan/read-system.ts';
import { document, table } from './markdown.ts';

/**
 * system_diagram.md: the diagram as text, with the machines' names in the run. Source:
 * inference_rules v4.1, Network division ("A system diagram must be included ... accompanied by any
 * text").
 */
export function systemDiagramText(
  system: PlannedSystem,
  network: NetworkEntry,
  results: readonly PlannedResult[],
): string {
  const textOf = (key: string): string => {
    const value = system.fields[key];
    return typeof value === 'string' && value !== '' ? value : 'not stated';
  };
  const components = network.components.map(({ id, kind, name }) => [id, kind, name]);
  const links = linksOf(network).map(({ from, to, media, rate, count }) => [
    from,
    to,
    String(count),
    media,
    rate,
  ]);
  return document(
    `# System diagram of ${system.id}`,
    '![System diagram](system_diagram.svg)',
    `LoadGen and the QDL run on the LoadGen node (\`${LOADGEN_END}\`); the model runs on ${network.sut_nodes.length} SUT ` +
      `node${network.sut_nodes.length === 1 ? '' : 's'}: ${network.sut_nodes.join(', ')}. Everything that queries and responses pass between them is drawn.`,
    network.notes ?? '',
    components.length === 0
      ? 'The machines are connected point to point.'
      : '## Between the machines',
    components.length === 0 ? '' : table(['id', 'kind', 'what'], components),
    '## Links',
    table(['from', 'to', 'links', 'media', 'rate of one'], links),
    '## Network interfaces and stacks',
    table(
      ['', 'LoadGen node', 'each SUT node'],
      [
        ['NIC', 'nic'],
        ['number of NICs', 'number_nic'],
        ['software', 'net_software_stack'],
      ].map(([what = '', key]) => [what, textOf(`${key}_loadgen`), textOf(`${key}_sut`)]),
    ),
    table(
      ['fabric', 'media', 'rate', 'protocol', 'connections', 'topology'],
      [
        [
          'network_type',
          'network_media',
          'network_rate',
          'network_protocol',
          'number_connections',
          'network_topology',
        ].map(textOf),
      ],
    ),
    '## Machines as the runs saw them',
    machinesText(results),
  );
}

function machinesText(results: readonly PlannedResult[]): string {
  const machines = results.flatMap(({ runs: { performance } }) => {
    const { audit } = performance;
    if (audit === undefined) return [];
    const nodes = audit.nodes.flatMap(({ description }) =>
      description?.host == null
        ? []
        : [{ name: `SUT node ${description.name}`, host: description.host }],
    );
    return [{ name: 'LoadGen node', host: audit.loadgenNode.host }, ...nodes];
  });
  if (machines.length === 0) return 'No run left a network_audit.json.';
  const rows = new Map<string, string[]>();
  const bootIds = new Map<string, string>();
  const shared = new Set<string>();
  for (const { name, host } of machines) {
    const { hostname, operatingSystem, cpuModel, addresses, bootId } = host;
    const cells = [name, hostname, operatingSystem, cpuModel, addresses.join(', ')];
    rows.set(cells.join(), cells);
    const machine = name.replace(/^LoadGen/, 'the LoadGen');
    const other = bootIds.get(bootId) ?? machine;
    if (bootId !== '') bootIds.set(bootId, other);
    if (other !== machine) shared.add(`${machine} ran on the machine of ${other}`);
  }
  return document(
    table(['machine', 'host', 'system', 'processor', 'addresses'], [...rows.values()]),
    shared.size === 0
      ? ''
      : `**One machine, by its boot id: ${[...shared].join('; ')}.** The diagram shows the machines that the submitter stated.`,
  );
}
