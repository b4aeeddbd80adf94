import { isStandInName } from '../../../shared/benchmarks/standin/standin-sets.ts';
import type { NodeDescription, NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { LoggedDetail } from '../../loadgen/engine/test-context.ts';

type NodeModel = NonNullable<NodeDescription['model']>;

/** What a result says of a benchmark that is none of MLPerf's. */
export function exampleMarks({ isOfficial, key }: BenchmarkRules): string[] {
  if (isOfficial) return [];
  const whose =
    key === 'custom' ? "a model and data of the user's own" : 'an example of this project';
  return [`benchmark ${key} is ${whose}, not an MLPerf benchmark`];
}

/** What a result says of models that are not the benchmark's own. */
export function modelMarks(nodes: readonly NodeEvidence[], benchmark: string): string[] {
  return nodes.flatMap(({ address, description, oip }) => {
    const model = description?.model;
    if (oip !== undefined || model?.isStandIn !== true) return [];
    if (isStandInName(model.name)) {
      return [
        `SUT node ${address} runs ${model.name}, a stand-in for the model of ${benchmark}: ` +
          `neither its accuracy nor its speed is that of ${benchmark}`,
      ];
    }
    return [
      `SUT node ${address} runs ${model.name}, which is not known to be the benchmark's own model`,
    ];
  });
}

/** The model of each node that tells one, in the detail log. */
export function modelDetails(nodes: readonly NodeEvidence[]): LoggedDetail[] {
  return nodes.flatMap(({ address, description, oip }) => {
    const model = description?.model;
    if (oip !== undefined || model === null || model === undefined) return [];
    const { name, sha256, isStandIn } = model;
    const value = { address, name, sha256, is_stand_in: String(isStandIn) };
    return [{ key: 'longhaul_model', value }];
  });
}

/** The models of a run for people, a line for each, with the nodes that have it. */
export function modelsInWords(nodes: readonly NodeEvidence[]): string[] {
  const addresses = new Map<string, string[]>();
  for (const { address, description, oip } of nodes) {
    const model = description?.model;
    const text =
      oip === undefined
        ? model && modelText(model)
        : `${oip.modelName}, ${digestText(oip.modelSha256)}`;
    if (text === null || text === undefined) continue;
    addresses.set(text, [...(addresses.get(text) ?? []), address]);
  }
  // One model on all nodes, the usual case, needs no addresses.
  if (addresses.size === 1) return [...addresses.keys()];
  return [...addresses].map(([text, at]) => `${text}   (${at.join(', ')})`);
}

function digestText(sha256: string | undefined): string {
  return sha256 === undefined
    ? 'of which the server tells no digest'
    : `SHA-256 ${sha256} as its server says`;
}

function modelText(model: NodeModel): string {
  const digest = model.sha256 === '' ? 'no file' : `SHA-256 ${model.sha256}`;
  return `${model.name}, ${digest}${standInNote(model)}`;
}

function standInNote(model: NodeModel): string {
  if (!model.isStandIn) return '';
  return isStandInName(model.name) ? ': A STAND-IN' : ": not known to be the benchmark's own";
}
