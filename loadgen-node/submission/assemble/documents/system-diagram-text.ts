import type { NetworkEntry } from '../config/config-schema.ts';
import { LOADGEN_END, linksOf } from '../diagram/topology.ts';
import type { PlannedResult } from '../plan/read-results.ts';
import type { PlannedSystem } from '../plan/read-system.ts';
import { document, table } from './markdown.ts';

/**
 * system_diagram.md: the diagram in words, and the machines by the names that the run saw.
 * Source: inference_rules v4.1, Network division ("A system diagram must be included ... accompanied by any text").
 */
export function systemDiagramText(
  system: PlannedSystem,
  network: NetworkEntry,
  results: readonly PlannedResult[],
): string {
  const { fields } = system;
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
        ['NIC', textOf(fields, 'nic_loadgen'), textOf(fields, 'nic_sut')],
        ['number of NICs', textOf(fields, 'number_nic_loadgen'), textOf(fields, 'number_nic_sut')],
        [
          'software',
          textOf(fields, 'net_software_stack_loadgen'),
          textOf(fields, 'net_software_stack_sut'),
        ],
      ],
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
        ].map((key) => textOf(fields, key)),
      ],
    ),
    '## Machines as the runs saw them',
    machinesText(results),
  );
}

function machinesText(results: readonly PlannedResult[]): string {
  const rows = new Map<string, string[]>();
  const bootIds = new Map<string, string>();
  const shared = new Set<string>();
  const note = (machine: string, bootId: string): void => {
    const other = bootId === '' ? undefined : bootIds.get(bootId);
    if (other === undefined) bootIds.set(bootId, machine);
    else if (other !== machine) shared.add(`${machine} ran on the machine of ${other}`);
  };
  for (const { runs } of results) {
    const { audit } = runs.performance;
    if (audit === undefined) continue;
    const { hostname, operatingSystem, cpuModel, addresses } = audit.loadgenNode.host;
    const cells = ['LoadGen node', hostname, operatingSystem, cpuModel, addresses.join(', ')];
    rows.set(cells.join(), cells);
    note('the LoadGen node', audit.loadgenNode.host.bootId);
    for (const { description } of audit.nodes) {
      if (description?.host == null) continue;
      const { host, name } = description;
      const node = [
        `SUT node ${name}`,
        host.hostname,
        host.operatingSystem,
        host.cpuModel,
        host.addresses.join(', '),
      ];
      rows.set(node.join(), node);
      note(`SUT node ${name}`, host.bootId);
    }
  }
  if (rows.size === 0) return 'No run left a network_audit.json.';
  return document(
    table(['machine', 'host', 'system', 'processor', 'addresses'], [...rows.values()]),
    shared.size === 0
      ? ''
      : `**One machine, by its boot id: ${[...shared].join('; ')}.** The diagram shows the machines that the submitter stated.`,
  );
}

function textOf(fields: Readonly<Record<string, unknown>>, key: string): string {
  const value = fields[key];
  return typeof value === 'string' && value !== '' ? value : 'not stated';
}
