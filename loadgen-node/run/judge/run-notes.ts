import type { DispatchSettings, QueryDispatchLibrary } from '../../../qdl/index.ts';
import { protocolNamed } from '../../../qdl/protocols/index.ts';
import { at } from '../../../shared/base/at.ts';
import { asOneLine, counted, grouped } from '../../../shared/base/text.ts';
import { isStandInName } from '../../../shared/benchmarks/standin/standin-sets.ts';
import type {
  NodeDescription,
  NodeEvidence,
  RequestEvidence,
  ServerEvidence,
} from '../../../shared/evidence/evidence-schema.ts';
import { otherWorkOf } from '../../../shared/evidence/other-work.ts';
import {
  type ServerNode,
  serversOf,
  softwareOf,
} from '../../../shared/evidence/server-evidence.ts';
import { compressionBreaches } from '../../../shared/rules/check-compression.ts';
import { hasNetworkDivision } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import { ownSoftware, toldSoftware } from '../../../shared/wire/protocol-versions.ts';
import { decidingStandstill, standstillText } from '../../loadgen/engine/causes.ts';
import { isBrokenEnd } from '../../loadgen/engine/issue/issue-threads.ts';
import type { JudgedTest, Judgement, LoggedDetail } from '../../loadgen/engine/test-context.ts';
import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { Standstill } from '../../loadgen/results/standstill.ts';
import type { AuditFinding, NetworkAudit } from '../../observe/network-audit.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import { CHECKSUM_FILE } from '../../samples/data-set/checksum-list.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import { handOverTexts } from '../audit/hand-overs.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { lostNodes } from './lost-nodes.ts';

/**
 * Mark of a run outside the Network division: its rules were not enforced, or the round has no such
 * division.
 */
export function divisionMarks({ division, round }: Pick<RunPlan, 'division' | 'round'>): string[] {
  if (division === 'network') {
    return hasNetworkDivision(round)
      ? []
      : [
          `round ${round} has no Network division: this run over a network was held to the rules of that of v4.1`,
        ];
  }
  return [
    'division open: the rules of the Network division are not enforced, this is no result of it',
  ];
}

/** Network division rules that the settings of a run outside it break. */
export function breachMarks({ division, compression }: RunPlan): string[] {
  if (division === 'network') return [];
  return compressionBreaches(compression).map(
    (breach) => `against the rules of the Network division: ${breach}`,
  );
}

/**
 * Names the nodes with unanswered samples: the verdict only has their number. For a node still
 * connected, counts only samples that LoadGen waited for as long as it ever waits: a sample
 * abandoned at once, or at a signal, is not evidence against its node.
 */
export function unansweredNotes(
  onNodeLoss: DispatchSettings['onNodeLoss'],
  qdl: Pick<QueryDispatchLibrary, 'nodes' | 'activity'>,
  { accuracy, performance }: Pick<JudgedTest, 'accuracy' | 'performance'>,
): string[] {
  const causes = [accuracy?.endCause, performance?.endCause];
  const isWaitedFor =
    causes.includes('stall') || (onNodeLoss === 'drain' && causes.includes('fault'));
  const lost = lostNodes(onNodeLoss, qdl);
  const states = qdl.activity();
  return qdl.nodes.flatMap(({ address, ledger }, i) => {
    const { sampleCount, completedCount, failedCount } = ledger;
    const missing = sampleCount - completedCount - failedCount;
    // If the run went on without the node, the note on its loss has both numbers.
    if (missing <= 0 || lost.includes(address) || !(isWaitedFor || states[i]?.isLost)) return [];
    return [`SUT node ${address} left ${missing} of ${sampleCount} samples unanswered`];
  });
}

/** Note on responses that no other count contains: their samples were already lost. */
export function lateNotes({ lateResponses }: Pick<JudgedTest, 'lateResponses'>): string[] {
  if (lateResponses === 0) return [];
  const came = `${counted(lateResponses, 'response')} came after LoadGen had given the sample up`;
  return [`${came}: counted as lost, and no breach of the contract`];
}

/**
 * Marks for different releases among the nodes of one SUT, or between the SUT and LoadGen. Nodes
 * that report no software, or other software than longhaul, are compared only with each other.
 */
export function softwareMarks(nodes: readonly NodeEvidence[]): string[] {
  const told = nodes.flatMap(({ address, description, streams }) =>
    description === null || description.software === ''
      ? []
      : [{ address, software: toldSoftware(description), streams }],
  );
  const kinds = new Set(told.map(({ software }) => software));
  if (kinds.size > 1) {
    const list = told.map(({ address, software }) => `${address} ${software}`).join(', ');
    return [`the SUT nodes run different software: ${list}: they may not be equally fast`];
  }
  const [first] = told;
  if (first === undefined || first.software === ownSoftware()) return [];
  if (!first.software.startsWith('longhaul ')) return [];
  const versions = new Set(
    told.flatMap(({ streams }) => streams.map(({ protocolVersion }) => protocolVersion)),
  );
  const agreed =
    versions.size === 0 ? '' : `, agreed on version ${[...versions].join(', ')} of the protocol`;
  return [`LoadGen is ${ownSoftware()}, the SUT ${first.software}${agreed}`];
}

/**
 * Notes on a run that keeps its bound: that the SUT stood still in it (unless the verdict already
 * gives that as its cause), and that the run is too short to show whether the SUT keeps up with the
 * load.
 */
export function courseNotes(performance: PerformanceOutcome | null): string[] {
  if (performance === null || isBrokenEnd(performance.endCause)) return [];
  const { keptStandstill: still } = performance.course;
  const isCause = decidingStandstill(performance) !== null;
  const stood = still === null || isCause ? [] : [keptText(still)];
  return [...stood, ...unknownCourse(performance)];
}

function keptText(still: Standstill): string {
  const { waitingSamples, lateSamples } = still;
  const late = lateSamples === 0 ? 'none' : grouped(lateSamples);
  return `${standstillText(still)}: ${counted(waitingSamples, 'sample')} waited for it, ${late} of them above the bound`;
}

function unknownCourse({ course, summary }: PerformanceOutcome): string[] {
  if (course.keepingUp?.state !== 'unknown' || !summary.keepsBounds) return [];
  const { queriesToTell } = course.keepingUp;
  const needed =
    queriesToTell === null ? '' : `: about ${grouped(queriesToTell)} queries would be enough`;
  return [`too short to tell whether the SUT keeps up with this load${needed}`];
}

/**
 * Notes on impossible claims of SUT nodes, on workers they lost, and on connections and streams
 * that ended. They change no figure, but a reader must know them.
 */
export function nodeNotes({ run, nodes }: NetworkAudit): string[] {
  const protocol = protocolNamed(run.protocol);
  return nodes.flatMap((node) => {
    const { address, claims = [], theirs } = node;
    const texts = claims.map(({ text }) => text);
    const replaced = theirs?.replacedWorkerCount ?? 0;
    if (replaced > 0) texts.push(replacedText(replaced));
    const other = otherWorkOf(node);
    if (other !== null) {
      const own = counted(node.ours.completedCount, 'sample');
      texts.push(
        `${other.text}, beside ${own} of this run: the latencies are not those of this load alone`,
      );
    }
    texts.push(...handOverTexts(node, protocol));
    return texts.map((text) => asOneLine(`SUT node ${address} ${text}`));
  });
}

/** A sentence without its subject, the node. @param count 1 or more. */
function replacedText(count: number): string {
  return count === 1
    ? 'lost a worker during the run and replaced it'
    : `lost ${count} workers during the run and replaced them`;
}

/**
 * Notes on devices that may be between LoadGen and SUT. A device that changed calls is a problem,
 * not a note.
 */
export function pathNotes({ rules }: NetworkAudit): string[] {
  return rules
    .filter(({ kind, verdict }) => kind === 'path' && verdict === 'not-provable')
    .map(
      (finding) => `between LoadGen and SUT: ${finding.why.replace(/\.$/, '')}${seenOf(finding)}`,
    );
}

/**
 * Calls that were repeated, compressed or spread on the path differ from the requested run: it is
 * INVALID. The open division marks it instead, like a broken rule.
 */
export function pathProblems({ run, rules }: NetworkAudit, output: string): Judgement['problems'] {
  if (run.division === 'open') return [];
  return rules
    .filter(({ kind, verdict }) => kind === 'path' && verdict === 'broken')
    .map((finding) => ({
      rule: finding.id,
      text: `Between LoadGen and SUT: ${finding.why} See "longhaul audit ${output}".`,
      needed: 'one node behind each address, and no proxy that repeats or compresses calls',
      seen: asOneLine(finding.evidence[0] ?? finding.why),
    }));
}

function seenOf({ evidence: [first, ...others] }: AuditFinding): string {
  const more = others.length === 0 ? '' : `; ${others.length} more in "longhaul audit"`;
  return first === undefined ? '' : asOneLine(`; ${first}${more}`);
}

type NodeModel = NonNullable<NodeDescription['model']>;

/** Mark of a benchmark that is not MLPerf's. */
export function exampleMarks({ isOfficial, key }: BenchmarkRules): string[] {
  if (isOfficial) return [];
  const whose =
    key === 'custom' ? "a model and data of the user's own" : 'an example of this project';
  return [`benchmark ${key} is ${whose}, not an MLPerf benchmark`];
}

/** Marks of models other than the benchmark's own. */
export function modelMarks(nodes: readonly NodeEvidence[], benchmark: string): string[] {
  return nodes.flatMap(({ address, description }) => {
    const model = description?.model;
    // Only the user knows which model is the benchmark's own in this case.
    if (model?.isStandIn !== true || benchmark === 'custom') return [];
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

/** Model or server of each node for the detail log; nodes that report no model are omitted. */
export function nodeDetails(audit: NetworkAudit): LoggedDetail[] {
  const { server: requests } = audit;
  return audit.nodes.flatMap((node) => {
    const { address, description } = node;
    const { server } = node;
    if (requests !== null && server !== undefined) return [serverDetail(address, server, requests)];
    const model = description?.model;
    return model === null || model === undefined ? [] : [modelDetail(address, model)];
  });
}

/** A model in the detail log. */
export function modelDetail(
  address: string,
  { name, sha256, isStandIn }: Omit<NodeModel, 'configuration'>,
): LoggedDetail {
  const value = { address, name, sha256, is_stand_in: String(isStandIn) };
  return { key: 'longhaul_model', value };
}

/** The models of a run for people, one line each, with the nodes that serve it. */
export function modelsInWords(nodes: readonly NodeEvidence[]): string[] {
  const addresses = new Map<string, string[]>();
  for (const node of nodes) {
    const { address, description } = node;
    const { server } = node;
    const model = description?.model;
    const text =
      server === undefined
        ? model && modelText(model)
        : `${server.modelName}, ${digestText(server.modelSha256)}`;
    if (text === null || text === undefined) continue;
    addresses.set(text, [...(addresses.get(text) ?? []), address]);
  }
  // One model on all nodes, the usual case, needs no addresses.
  if (addresses.size === 1) return [...addresses.keys()];
  return [...addresses].map(([text, at]) => `${text}   (${at.join(', ')})`);
}

function digestText(sha256: string | undefined): string {
  return sha256 === undefined
    ? 'of which the server reports no digest'
    : `SHA-256 ${sha256} as its server reports`;
}

function modelText(model: NodeModel): string {
  const digest = model.sha256 === '' ? 'no file' : `SHA-256 ${model.sha256}`;
  return `${model.name}, ${digest}${standInNote(model)}`;
}

function standInNote(model: NodeModel): string {
  if (!model.isStandIn) return '';
  return isStandInName(model.name) ? ': A STAND-IN' : ": not known to be the benchmark's own";
}

/** Notes on servers, and on the run's requests to them. */
export function serverNotes(audit: NetworkAudit): string[] {
  const servers = serversOf(audit.nodes);
  return [
    ...servers.map((server) => `SUT node ${server.address} is ${serverText(server)}`),
    ...versionMarks(servers),
    ...(audit.server?.notes ?? []),
  ];
}

/**
 * Marks of the servers' models: a stand-in by its own name, and in an MLPerf benchmark every other
 * model, since no server reports which model its name stands for.
 */
export function serverModelMarks(audit: NetworkAudit): string[] {
  const { benchmark, isOfficialBenchmark } = audit.run;
  return serversOf(audit.nodes).flatMap(({ address, modelName, modelSha256 }) => {
    const serves = `SUT node ${address} serves ${modelName}`;
    if (isStandInName(modelName)) {
      return [`${serves}, a stand-in: neither its accuracy nor its speed is that of ${benchmark}`];
    }
    if (!isOfficialBenchmark) return [];
    const why =
      modelSha256 === undefined
        ? 'its server reports no digest'
        : 'its digest is a statement of the server, not part of the protocol';
    return [`${serves}, which is not known to be ${benchmark}'s own model: ${why}`];
  });
}

function serverDetail(address: string, server: ServerEvidence, to: RequestEvidence): LoggedDetail {
  const value = {
    address,
    server: server.serverName,
    server_version: server.serverVersion,
    service: to.service,
    method: to.plan?.method ?? '',
    model: servedModelText(server, to),
    platform: server.platform,
    ...(server.modelSha256 !== undefined && { model_sha256: server.modelSha256 }),
    requests: String(server.requestCount),
    trial_requests: String(server.trialCount),
  };
  return { key: 'longhaul_oip_server', value };
}

/** Model and version as requested: `resnet50:2`; without the version if it is unknown. */
export function servedModelText(
  { modelName, modelVersions }: ServerEvidence,
  { plan }: RequestEvidence,
): string {
  const only = modelVersions.length === 1 ? at(modelVersions, 0) : '';
  const version = plan?.model.version || only;
  return version === '' ? modelName : `${modelName}:${version}`;
}

function serverText(server: ServerEvidence): string {
  const { modelName, modelVersions, platform } = server;
  const versions =
    modelVersions.length === 0
      ? ''
      : `, version${modelVersions.length > 1 ? 's' : ''} ${modelVersions.join(', ')}`;
  const kind = platform === '' ? '' : ` on ${platform}`;
  return `${softwareOf(server) || 'a server without a name'}, model ${modelName}${versions}${kind}`;
}

function versionMarks(servers: readonly ServerNode[]): string[] {
  const told = servers.filter(({ serverVersion }) => serverVersion !== '');
  if (new Set(told.map(({ serverVersion }) => serverVersion)).size < 2) return [];
  const list = told.map((server) => `${server.address} ${server.serverVersion}`).join(', ');
  return [`the servers are of different versions: ${list}: they may not be equally fast`];
}

/** Marks that the data set brings, and one if no list of checksums shows that it is unchanged. */
export function dataSetMarks(dataSet: DataSet, check: DataSetCheck): string[] {
  const marks = [...(dataSet.marks ?? [])];
  if (isUnlisted(check)) {
    marks.push(
      `the data set was not compared with a list of checksums, only digested: ${listWriter(dataSet)} writes a list`,
    );
  }
  return marks;
}

/** The data set in the detail log. */
export function dataSetDetail(check: DataSetCheck): LoggedDetail {
  const { name, folder, sampleCount, fileCount, digest, list } = check;
  return {
    key: 'longhaul_data_set',
    value: {
      name,
      folder,
      sample_count: String(sampleCount),
      file_count: String(fileCount),
      sha256: digest,
      verified: verifiedOf(check),
      list: list ?? '',
    },
  };
}

/**
 * Which command writes the list: a verb reads data sets of benchmarks, but not files of tensors
 * (`--data`).
 */
function listWriter({ files = [] }: DataSet): string {
  const [first = ''] = files;
  if (first !== '' && files.every((file) => file.endsWith('.npy'))) {
    return `in its folder "find . -name '*.npy' | sort | xargs sha256sum > ${CHECKSUM_FILE}"`;
  }
  if (first.endsWith('.jsonl')) return `in its folder "sha256sum ${first} > ${CHECKSUM_FILE}"`;
  return '"longhaul submission data checksums"';
}

function isUnlisted({ fileCount, list }: DataSetCheck): boolean {
  return fileCount > 0 && list === undefined;
}

function verifiedOf(check: DataSetCheck): string {
  if (check.fileCount === 0) return 'no files: samples are generated';
  return isUnlisted(check) ? 'no list' : 'yes';
}
