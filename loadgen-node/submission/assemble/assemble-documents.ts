import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion, protoFolder } from '../../../shared/base/files/package-files.ts';
import { TODO_MARK } from '../tree/system-fields.ts';
import { diagramSvg } from './diagram/network-diagram.ts';
import { bandwidthStatement } from './documents/bandwidth.ts';
import { document } from './documents/markdown.ts';
import { softwareText, weightsNotice } from './documents/software.ts';
import { systemDiagramText } from './documents/system-diagram-text.ts';
import type { PlannedResult } from './plan/read-results.ts';
import type { PlannedSystem } from './plan/read-system.ts';
import type { DivisionScope } from './tree-files.ts';

/** Writes the texts for reviewers: per division the wire (not in closed) and the calibration, per system the rest. */
export function assembleDocuments(scope: DivisionScope): void {
  const { plan, layout, division, results, files, notices, implementationOf } = scope;
  const folder = layout.documentation(division, plan.submitter);
  // Nothing of a closed system is sent over a network.
  if (division !== 'closed') {
    const sources = `../${layout.isFlat ? 'src' : 'code'}/longhaul`;
    files.text(`${folder}/network.md`, networkText(sources));
  }
  const implementations = new Set(results.map(implementationOf));
  const calibration = document(
    '# Calibration and transformation of weights',
    ...[...implementations].flatMap(({ id, calibration }) => [`## ${id}`, calibration]),
  );
  files.text(`${folder}/calibration.md`, calibration);
  for (const [id, system] of plan.systems) {
    const own = results.filter(({ entry }) => entry.system === id);
    if (own.length > 0) assembleSystem(scope, `${folder}/${id}`, system, own);
  }
  const notice = weightsNotice(implementations);
  if (notice !== undefined) notices.add(notice);
}

function assembleSystem(
  { files, notices, implementationOf }: DivisionScope,
  folder: string,
  system: PlannedSystem,
  results: readonly PlannedResult[],
): void {
  const pairs = results.map((result) => [result, implementationOf(result)] as const);
  const { text, shortfalls } = bandwidthStatement(system, pairs);
  files.text(`${folder}/bandwidth.md`, text);
  for (const shortfall of shortfalls) notices.add(`bandwidth of ${system.id}: ${shortfall}`);
  const status = String(system.fields['status'] ?? '');
  files.text(`${folder}/software.md`, softwareText(system.id, status, pairs));
  const { network } = system;
  if (network === undefined) return;
  const texts = { loadgen: machineTexts(system, 'loadgen'), sut: machineTexts(system, 'sut') };
  const title = `System diagram of ${system.id}`;
  files.text(`${folder}/system_diagram.svg`, diagramSvg(title, network, texts));
  files.text(`${folder}/system_diagram.md`, systemDiagramText(system, network, results));
}

/** What stands in a machine's box besides its name. */
function machineTexts({ fields }: PlannedSystem, end: 'loadgen' | 'sut'): string[] {
  const nics = countedText(fields, `number_nic_${end}`, `nic_${end}`, 'NIC');
  if (end === 'loadgen') return ['LoadGen, QSL, QDL', ...nics];
  const accelerators = fields['accelerators_per_node'];
  const compute =
    accelerators === undefined || /^(0*|none|n\/a)$/i.test(String(accelerators).trim())
      ? shortText(fields, 'host_processor_model_name', 'processor')
      : countedText(fields, 'accelerators_per_node', 'accelerator_model_name', 'accelerator');
  return [...nics, ...compute];
}

/** `2 x a card`; where nobody filled in the number, or there is none, the text alone. */
function countedText(
  fields: PlannedSystem['fields'],
  countKey: string,
  key: string,
  what: string,
): string[] {
  const count = String(fields[countKey] ?? '').trim();
  const texts = shortText(fields, key, what);
  return /^[1-9]\d*$/.test(count) ? texts.map((text) => `${count} x ${text}`) : texts;
}

/** A box has room for a name: what a TODO asks for stands in the description. */
function shortText(fields: PlannedSystem['fields'], key: string, what: string): string[] {
  const text = String(fields[key] ?? '').trim();
  if (text === '' || /^(none|n\/a)$/i.test(text)) return [];
  return [text.startsWith(TODO_MARK) ? `${TODO_MARK}: ${what}` : text];
}

/** What follows is about files that are not in a tree. */
const DEVELOPERS = '\n## For developers';

/**
 * network.md: what is marshalled and sent for each query, and where the QDL's source stands in the tree.
 * Source: inference_rules v4.1, "QDL implementation" (source above the session layer, session layer API).
 * @param sources Folder of longhaul's sources, relative to network.md.
 */
function networkText(sources: string): string {
  const [story = ''] = readFileSync(join(protoFolder(), 'README.md'), 'utf8').split(DEVELOPERS);
  return document(
    '# How LoadGen node and SUT nodes talk',
    `The Query Dispatch Library (QDL) is that of longhaul ${packageVersion()}. Its source lies in ` +
      `[${sources}/qdl](${sources}/qdl), from LoadGen's calls (\`query-dispatch-library\`) down to gRPC, which is the ` +
      `session layer; what it shares with a SUT node in [${sources}/shared](${sources}/shared). The session layer's ` +
      `API is the gRPC service of [${sources}/proto/mlperf/network/v1/sut.proto](${sources}/proto/mlperf/network/v1/sut.proto): ` +
      'every message and field is explained there. What follows tells the same as a story.',
    // One level down, so that this document has one title.
    story.replace(/^#/gm, '##'),
  );
}
