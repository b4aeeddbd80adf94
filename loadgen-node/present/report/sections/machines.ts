import type { NodeEvidence, ServerEvidence } from '../../../../shared/evidence/evidence-schema.ts';
import { modelOf, softwareOf } from '../../../../shared/evidence/server-evidence.ts';
import type { HostEvidence } from '../../../../shared/host/host-facts.ts';
import { divisionInWords } from '../../../../shared/rules/rounds/rounds.ts';
import type { CppEngine, NetworkAudit } from '../../../observe/network-audit.ts';
import type { RunSummary } from '../../../observe/summary/run-summary.ts';
import { type Html, html, htmlTable, scroll, section } from '../../html/html.ts';
import { formatNumber } from '../../text/figure-text.ts';
import { linkWords } from '../../text/machine-text.ts';

/** Facts of one end of the run by name; those not reported are absent. */
interface End {
  readonly title: string;
  readonly facts: Readonly<Record<string, string | Html>>;
}

/** Rows in the order of the table. */
const ROWS = [
  ...['Machine', 'Processor', 'Cores', 'Memory', 'Operating system', 'Software'],
  ...['Node.js', 'ONNX Runtime', 'Model', 'SHA-256 of the model', 'Execution provider', 'Platform'],
  ...[
    'Workers',
    'Threads per worker',
    'Sequences side by side',
    'Batch size',
    'Batch delay',
    'Server',
  ],
];

/**
 * Section "What was measured on what": both ends as they described themselves, and the link between
 * them.
 * @param audit Null without an audit.
 */
export function renderMachines(summary: RunSummary, audit: NetworkAudit | null): Html {
  const title = 'What was measured on what';
  if (audit === null) {
    const why =
      'There is no network_audit.json beside the summary, so machines and software are unknown.';
    return section('machines', title, html`<p>${why}</p>`);
  }
  const ends = [loadgenEnd(audit), ...nodeEnds(audit)];
  const names = ROWS.filter((name) => ends.some(({ facts }) => facts[name] !== undefined));
  const rows = names.map((name) => [
    html`<strong>${name}</strong>`,
    ...ends.map(({ facts }) => facts[name] ?? '-'),
  ]);
  const table = htmlTable(['', ...ends.map((end) => end.title)], rows);
  return section(
    'machines',
    title,
    html`${scroll(title, table)}
<p>Link: ${linkWords(audit).text}.${hasAccelerator(audit) ? null : html` No node reported an accelerator.`}</p>${sutName(summary)}`,
  );
}

function sutName(summary: RunSummary): Html {
  const { sutName: name, round, division, mode, runId, longhaul, engine } = summary;
  return html`<p class="quiet">SUT name: ${name}. Mode ${mode}, round ${round}, ${divisionInWords(round, division)}, longhaul ${longhaul}, run ${runId}.</p>${engine === undefined ? null : engineTable(engine)}`;
}

/** The C++ LoadGen of the run, and hashes that identify its files. */
function engineTable(engine: CppEngine): Html {
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['Version', engine.version],
    ['Tag', engine.tag ?? 'unknown to longhaul'],
    ['Commit', engine.commit],
    ['Tree of loadgen/', engine.tree],
    ['SHA-256 of its sources', engine.sourcesSha256],
    ['SHA-256 of its library', engine.librarySha256],
    ['SHA-256 of the bridge', engine.addonSha256],
    ['SHA-256 of mlperf_log_detail.txt', engine.detailLogSha256],
    ['Samples issued otherwise than planned', engine.otherSamples?.toString()],
    ['Doubts', engine.doubts.join(' ') || 'none'],
  ];
  const cells = rows.map(([name, value]) => [name, value ?? 'not known']);
  return scroll('C++ LoadGen', htmlTable(['C++ LoadGen', 'that issued the queries'], cells));
}

function loadgenEnd({ loadgenNode }: NetworkAudit): End {
  const { host, software, softwareVersion, components } = loadgenNode;
  const facts = {
    ...hostFacts(host),
    Software: `${software} ${softwareVersion}`,
    ...componentFacts(components),
  };
  return { title: 'LoadGen', facts };
}

/** The nodes; equal nodes share a column. */
function nodeEnds({ nodes, nameCalls }: NetworkAudit): End[] {
  const groups = new Map<string, { names: string[]; facts: End['facts'] }>();
  for (const node of nodes) {
    const asked = nameCalls[0]?.nodes.find(({ address }) => address === node.address);
    const name = node.streams[0]?.nodeName ?? node.description?.name ?? asked?.name ?? node.address;
    const facts = nodeFacts(node);
    const key = JSON.stringify(Object.entries(facts));
    const group = groups.get(key) ?? { names: [], facts };
    group.names.push(name);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ names, facts }) => ({
    title:
      names.length > 3 ? `${names.length} SUT nodes: ${names[0]}, ...` : `SUT: ${names.join(', ')}`,
    facts,
  }));
}

function nodeFacts(node: NodeEvidence): End['facts'] {
  const { description } = node;
  if (description === null) return serverFacts(node.server);
  const { host, software, softwareVersion, components, model, settings } = description;
  // Benchmarks without a model have no ONNX Runtime, no workers and no batches.
  const hasModel = model === null || model.sha256 !== '';
  const of = (key: string): string | undefined =>
    (hasModel ? settings[key] : undefined) || undefined;
  const sequences = of('sequencesMax');
  // A node that generates sequences has no batches.
  const batch = sequences === undefined ? of('batchSizeMax') : undefined;
  return known({
    ...(host === null ? {} : hostFacts(host)),
    Software: `${software} ${softwareVersion}`,
    ...componentFacts(components.filter(({ name }) => hasModel || name !== 'onnxruntime-node')),
    Model: model === null ? undefined : `${model.name}${model.isStandIn ? ' (a stand-in)' : ''}`,
    'SHA-256 of the model':
      model === null || model.sha256 === '' ? undefined : digest(model.sha256),
    'Execution provider': of('providers'),
    Workers: of('workerCount'),
    'Threads per worker': of('threadsPerWorker'),
    'Sequences side by side':
      sequences === undefined ? undefined : `up to ${sequences} in a worker`,
    'Batch size': batch === undefined ? undefined : `up to ${batch}`,
    'Batch delay': batch === undefined ? undefined : `up to ${of('batchDelayUsMax') ?? '0'} µs`,
  });
}

/** A server reports its model, but not its machine. */
function serverFacts(server: ServerEvidence | undefined): End['facts'] {
  if (server === undefined) return {};
  return known({
    Server: softwareOf(server) || undefined,
    Model: modelOf(server),
    'SHA-256 of the model': server.modelSha256 && digest(server.modelSha256),
    Platform: server.platform || undefined,
  });
}

function known(facts: Readonly<Record<string, string | Html | undefined>>): End['facts'] {
  const told = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told) as End['facts']; // None is undefined.
}

function hostFacts(host: HostEvidence): Record<string, string> {
  return {
    Machine: host.hostname,
    Processor: host.cpuModel,
    Cores: String(host.cpuCount),
    Memory: `${formatNumber(host.memoryBytes / 2 ** 30)} GiB`,
    'Operating system': host.operatingSystem,
  };
}

function componentFacts(
  components: readonly { name: string; version: string }[],
): Record<string, string> {
  const titles: Readonly<Record<string, string>> = {
    node: 'Node.js',
    'onnxruntime-node': 'ONNX Runtime',
  };
  return Object.fromEntries(
    components.flatMap(({ name, version }) => {
      const title = titles[name];
      return title === undefined ? [] : [[title, version]];
    }),
  );
}

/** A digest, shortened; the full text on hovering. */
function digest(sha256: string): Html {
  return html`<code title="${sha256}">${sha256.slice(0, 16)}…</code>`;
}

function hasAccelerator({ nodes }: NetworkAudit): boolean {
  const cpuOnly = (text: string | undefined): boolean =>
    text === undefined || /^(cpu)?$/.test(text);
  return nodes.some(({ description }) => !cpuOnly(description?.settings['providers']));
}
