import { counted, firstOf } from '../../../shared/base/text.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { sharedCores } from '../../observe/network-audit.ts';
import type { EndedReport } from './run-report.ts';

/** Nodes that are named one by one. */
const NAMED_NODES = 2;

/** The SUT: one line if its nodes are alike, else one per kind. Empty without nodes. */
export function sutText({ audit, summary }: EndedReport): string[] {
  const kinds = new Map<string, string[]>();
  for (const node of audit?.nodes ?? []) {
    const { name = '', model = '' } =
      summary?.nodes.find(({ address }) => address === node.address) ?? {};
    const what = [model, ...workerTexts(node)].filter((text) => text !== '').join(', ');
    const place = `${name === '' ? 'a node' : name} at ${node.address}`;
    kinds.set(what, [...(kinds.get(what) ?? []), place]);
  }
  return [...kinds].map(([what, places]) => {
    const count = places.length > 1 ? `${places.length} nodes, ` : '';
    const each = places.length > 1 && what !== '' ? 'each ' : '';
    return `${count}${firstOf(places, NAMED_NODES)}${what === '' ? '' : `, ${each}${what}`}`;
  });
}

/** Workers and cores of a node if it reports them; a benchmark without a model has none. */
function workerTexts({ description }: NodeEvidence): string[] {
  const { settings, host, model } = description ?? {};
  const workers = Number(settings?.['workerCount']);
  if (model == null || model.sha256 === '' || !(workers > 0)) return [];
  const texts = [counted(workers, 'worker')];
  const threads = Number(settings?.['threadsPerWorker']);
  const cores = host?.cpuCount ?? 0;
  if (settings?.['providers'] !== 'cpu' || !(threads > 0) || cores === 0) return texts;
  return [...texts, `${Math.min(workers * threads, cores)} of ${counted(cores, 'core')}`];
}

/** Notes that change the meaning of the numbers; the note on one machine comes first. */
export function keyNotesOf({ audit, keyNotes }: Pick<EndedReport, 'audit' | 'keyNotes'>): string[] {
  const cores = audit === null ? null : sharedCores(audit);
  if (cores === null) return [...keyNotes];
  return [
    `one machine: LoadGen and SUT share ${counted(cores, 'core')}, no network was measured`,
    ...keyNotes,
  ];
}
