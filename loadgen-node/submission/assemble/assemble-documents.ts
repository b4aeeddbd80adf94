import { TODO_MARK } from '../tree/system-fields.ts';
import { bandwidthStatement } from './bandwidth/bandwidth-statement.ts';
import { layOut } from './diagram/diagram-layout.ts';
import { diagramSvg } from './diagram/diagram-svg.ts';
import type { DivisionScope } from './division-scope.ts';
import { document } from './documents/markdown.ts';
import { networkText } from './documents/network-text.ts';
import { softwareText, weightsNotice } from './documents/software.ts';
import { systemDiagramText } from './documents/system-diagram-text.ts';
import type { PlannedImplementation, PlannedResult, PlannedSystem } from './plan/plan-types.ts';

/** Writes the texts for reviewers: per division the wire (not in closed) and the calibration, per system the rest. */
export function assembleDocuments(scope: DivisionScope): void {
  const { plan, layout, division, results, files, notices } = scope;
  const folder = layout.documentation(division, plan.submitter);
  const codeName = layout.isFlat ? 'src' : 'code';
  // Nothing of a closed system is sent over a network.
  if (division !== 'closed') {
    files.text(`${folder}/network.md`, networkText(`../${codeName}/longhaul`));
  }
  files.text(`${folder}/calibration.md`, calibrationText(plan.implementations, results));
  for (const [id, system] of plan.systems) {
    const own = results.filter(({ entry }) => entry.system === id);
    if (own.length > 0) assembleSystem(scope, `${folder}/${id}`, system, own);
  }
  const notice = weightsNotice(results.map((result) => implementationOf(scope, result)));
  if (notice !== undefined) notices.push(notice);
}

function implementationOf(
  { plan }: DivisionScope,
  { entry }: PlannedResult,
): PlannedImplementation {
  return plan.implementations.get(entry.implementation) as PlannedImplementation;
}

function assembleSystem(
  scope: DivisionScope,
  folder: string,
  system: PlannedSystem,
  results: readonly PlannedResult[],
): void {
  const { files, notices } = scope;
  const pairs = results.map((result) => [result, implementationOf(scope, result)] as const);
  const { text, shortfalls } = bandwidthStatement(system, pairs);
  files.text(`${folder}/bandwidth.md`, text);
  notices.push(...shortfalls.map((shortfall) => `bandwidth of ${system.id}: ${shortfall}`));
  const status = String(system.fields['status'] ?? '');
  files.text(`${folder}/software.md`, softwareText(system.id, status, pairs));
  const { network } = system;
  if (network === undefined) return;
  const texts = { loadgen: machineTexts(system, 'loadgen'), sut: machineTexts(system, 'sut') };
  const layout = layOut(network, texts);
  files.text(`${folder}/system_diagram.svg`, diagramSvg(layout, `System diagram of ${system.id}`));
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

function calibrationText(
  implementations: ReadonlyMap<string, PlannedImplementation>,
  results: readonly PlannedResult[],
): string {
  const ids = [...new Set(results.map(({ entry }) => entry.implementation))];
  return document(
    '# Calibration and transformation of weights',
    ...ids.flatMap((id) => [`## ${id}`, implementations.get(id)?.calibration ?? '']),
  );
}
