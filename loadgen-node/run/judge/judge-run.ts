import type { QueryDispatchLibrary } from '../../../qdl/index.ts';
import { protocolNamed } from '../../../qdl/protocols/index.ts';
import { counted, percentage } from '../../../shared/base/text.ts';
import type { HostIdentity } from '../../../shared/host/host-facts.ts';
import { hasNetworkDivision } from '../../../shared/rules/rounds/rounds.ts';
import type { JudgedTest, Judgement, LoggedDetail } from '../../loadgen/engine/test-context.ts';
import type { SelfCheck } from '../../loadgen/logs/write/header-lines.ts';
import type { NetworkAudit } from '../../observe/network-audit.ts';
import { doubtsAbout } from '../../official/doubts.ts';
import {
  accuracyInWords,
  accuracyPercent,
  isMet,
  neededCount,
  qualityOfRun,
  targetInWords,
} from '../../samples/benchmarks/score-each.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { AccuracyReport, DataSet, NamedQuality } from '../../samples/data-set/data-set.ts';
import { brokenFindings, composeAudit } from '../audit/compose-audit.ts';
import { isOutsideDivision, type RunPlan } from '../plan/run-plan.ts';
import { onlyTarget, targetsOf } from '../plan/target.ts';
import { gatherFacts, type Phases } from './gather-facts.ts';
import { isOfLost, lostNodeNotes, lostNodes } from './lost-nodes.ts';
import {
  breachMarks,
  courseNotes,
  dataSetDetail,
  dataSetMarks,
  divisionMarks,
  exampleMarks,
  lateNotes,
  modelMarks,
  nodeDetails,
  nodeNotes,
  pathNotes,
  pathProblems,
  serverModelMarks,
  serverNotes,
  softwareMarks,
  unansweredNotes,
} from './run-notes.ts';
import { type ScoredAccuracy, scoreAccuracy } from './score-accuracy.ts';

/** SUT nodes reached over a QDL, and LoadGen's end of the network. */
interface NetworkSut {
  readonly qdl: QueryDispatchLibrary;
  readonly selfCheck: SelfCheck;
  readonly host: HostIdentity;
}

/** A SUT without nodes: no network to audit. */
export interface LocalSut {
  readonly qdl: null;
  /** Marks of the SUT; at least that there is no network. */
  readonly marks: readonly string[];
  /** Lines of the detail log about the SUT. */
  readonly details: readonly LoggedDetail[];
}

/** Plan, data and SUT of the run that is judged. */
interface JudgeParts {
  readonly plan: RunPlan;
  readonly dataSet: DataSet;
  readonly dataSetCheck: DataSetCheck;
  /** Absent: there was no warm-up. */
  readonly warmUp?: { readonly details: readonly LoggedDetail[] };
  readonly sut: NetworkSut | LocalSut;
}

/**
 * Judges what LoadGen itself cannot: accuracy against the benchmark's target, the Network
 * division's rules, and the notes that a result must have on the screen and in the logs. They
 * cannot be turned off.
 */
export class RunJudge {
  readonly #parts: JudgeParts;
  #audit: NetworkAudit | undefined;
  /** Set by {@link judge}. */
  accuracy: ScoredAccuracy = {};
  /** The quality target of the run. */
  readonly quality: NamedQuality;
  /** Set by {@link judge}. */
  notes: readonly string[] = [];
  /**
   * Notes among {@link notes} that change the meaning of the figures, without the note on one
   * machine.
   */
  keyNotes: readonly string[] = [];
  /** Notes among {@link notes} about a benchmark outside MLPerf, or non-official models or data. */
  standInMarks: readonly string[] = [];

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    const { plan, dataSet } = parts;
    this.quality = qualityOfRun(plan.rules, plan.round, dataSet);
  }

  /** @param signal Its abort ends the scoring of accuracy. */
  readonly judge = async (test: JudgedTest, signal?: AbortSignal): Promise<Judgement> => {
    const { plan, sut, dataSet, dataSetCheck } = this.#parts;
    const ofData = dataSetMarks(dataSet, dataSetCheck);
    const ofSut =
      sut.qdl === null
        ? { notes: [...sut.marks, ...ofData], details: sut.details, problems: [] }
        : await this.#judgeNetwork(test, sut, ofData);
    const { errors = [], differences = [], otherSettings = null } = test.driver ?? {};
    const ofCourse = [...asNotes([...errors, ...differences]), ...courseNotes(test.performance)];
    this.notes = [...marksOf(plan), ...ofCourse, ...ofSut.notes, ...lateNotes(test)];
    this.keyNotes = [...keyMarks(plan), ...ofCourse, ...(dataSet.marks ?? []), ...this.keyNotes];
    this.accuracy = await scoreAccuracy(dataSet, test, signal);
    const { report, problem } = this.accuracy;
    const problems = problem === undefined ? qualityProblems(report, this.quality) : [problem];
    const details = [dataSetDetail(dataSetCheck), ...ofSut.details];
    if (report !== undefined && sut.qdl !== null) {
      details.push(accuracyDetail(report, this.quality));
    }
    // LoadGen judged with the settings that it had.
    const ofDriver = otherSettings === null ? [] : [{ rule: 'cpp-settings', ...otherSettings }];
    return { problems: [...ofDriver, ...problems, ...ofSut.problems], notes: this.notes, details };
  };

  async #judgeNetwork(
    test: JudgedTest,
    sut: NetworkSut,
    ofData: readonly string[],
  ): Promise<Judgement> {
    const { plan, dataSet, warmUp } = this.#parts;
    const { qdl, selfCheck } = sut;
    const audit = await this.#compose(test, sut);
    this.#audit = audit;
    const ofModels = [...modelMarks(audit.nodes, plan.rules.key), ...serverModelMarks(audit)];
    this.standInMarks = [...exampleMarks(plan.rules), ...ofModels, ...(dataSet.marks ?? [])];
    const { onNodeLoss } = onlyTarget(plan).dispatch;
    const lost = lostNodes(onNodeLoss, qdl);
    const ofNodes = [
      ...nodeNotes(audit),
      ...selfCheckMarks(selfCheck),
      ...lostNodeNotes(onNodeLoss, qdl),
      ...unansweredNotes(onNodeLoss, qdl, test),
    ];
    const breaches = breachMarks(plan);
    const ofPath = pathNotes(audit);
    this.keyNotes = [...ofModels, ...breaches, ...ofPath, ...ofNodes];
    return {
      notes: [
        ...ofModels,
        ...softwareMarks(audit.nodes),
        ...serverNotes(audit),
        ...ofData,
        ...divisionMarks(plan),
        ...breaches,
        ...auditMarks(audit, lost),
        ...ofPath,
        ...ofNodes,
        ledgerNote(audit, lost),
      ],
      problems: [...brokenRules(audit, plan.output), ...pathProblems(audit, plan.output)],
      details: [...(warmUp?.details ?? []), ...nodeDetails(audit), ...networkDetails(audit)],
    };
  }

  /**
   * The audit of the run; of a run that broke off before {@link judge}, with what is known; null
   * without a network.
   */
  async audit(): Promise<NetworkAudit | null> {
    const { sut } = this.#parts;
    if (sut.qdl === null) return null;
    const phases = { accuracy: null, performance: null, driver: null, excessTimes: [] };
    return this.#audit ?? (await this.#compose(phases, sut));
  }

  async #compose(phases: Phases, { qdl, host }: NetworkSut): Promise<NetworkAudit> {
    return composeAudit(await gatherFacts(this.#parts.plan, qdl, host, phases));
  }
}

/** Reasons for INVALID from accuracy; empty without an accuracy run. */
function qualityProblems(
  accuracy: AccuracyReport | undefined,
  quality: NamedQuality,
): Judgement['problems'] {
  if (accuracy === undefined || isMet(accuracy, quality)) return [];
  const seen = accuracyInWords(accuracy);
  const text = `The quality target is missed: ${seen}, target ${targetInWords(quality)}.`;
  const isPlain = quality.more === undefined && quality.max === undefined;
  const needed = isPlain ? `${accuracyPercent(quality.target)} or more` : targetInWords(quality);
  return [{ rule: 'quality', text, needed, seen }];
}

/**
 * Marks that follow from a run's settings alone. A mark is a sentence in logs and reports that says
 * why the run's figures are not an MLPerf result, or what restricts them.
 */
export function marksOf(plan: RunPlan): string[] {
  const marks = engineMarks(plan.linked);
  marks.push(...exampleMarks(plan.rules), ...keyMarks(plan));
  const { scenario } = plan.settings;
  if (isOutsideDivision(plan)) {
    marks.push(
      `division open: ${scenario} is outside the Network division, which knows Server and Offline`,
    );
  }
  return marks;
}

/** Marks that say which LoadGen issued the queries, and what follows from that. */
function engineMarks(linked: RunPlan['linked']): string[] {
  if (linked === undefined) {
    return [
      'LoadGen of this run is longhaul, not the C++ LoadGen of an approved revision: not an MLPerf result',
    ];
  }
  const { build, tag } = linked.manifest;
  const which = tag === null ? 'of no tag that longhaul knows' : `of tag ${tag}`;
  return [
    `LoadGen of this run is the C++ LoadGen ${build.version} ${which}, as the user built it; MLCommons says which revisions a round approves`,
  ];
}

/** Sentences without full stops: notes are list items. */
function asNotes(sentences: readonly string[]): string[] {
  return sentences.map((text) => text.replace(/\.$/, ''));
}

/** Marks among {@link marksOf} that change the meaning of the figures. */
function keyMarks(plan: RunPlan): string[] {
  const marks = plan.linked === undefined ? [] : asNotes(doubtsAbout(plan.linked));
  const { key, rounds } = plan.rules;
  if (rounds !== undefined && !rounds.includes(plan.round)) {
    marks.push(
      `${key} is a benchmark of ${rounds.join(', ')}, not of round ${plan.round}: its own target holds, --round chooses`,
    );
  }
  if (plan.auditConfig !== undefined) {
    marks.push(`settings of ${plan.auditConfig} are in force: a compliance test, not a result`);
  }
  marks.push(...plan.departures.map(({ mark }) => mark));
  for (const { linkMark } of targetsOf(plan)) if (linkMark !== undefined) marks.push(linkMark);
  if (plan.otel !== undefined) marks.push(otelMark(plan, plan.otel.share));
  if (plan.planMark !== undefined) marks.push(plan.planMark);
  return marks;
}

/** Tracing adds work to both ends. */
function otelMark(plan: RunPlan, share: number): string {
  const calls = targetsOf(plan).some(({ dispatch, protocol }) => protocol.hasHeaders(dispatch))
    ? 'their calls carry traceparent, so that the server may record spans of its own'
    : 'their calls carry no traceparent';
  return `OpenTelemetry was on: ${percentage(share)} of the queries are exported as spans; ${calls}`;
}

/** Rules that the marks of the plan already cover in other words. */
const MARKED_ELSEWHERE: readonly string[] = [
  'datacenter-scenario',
  'network-division',
  'compression-allowed',
];

/** Marks from the audit: topology always; a broken rule if the open division allows it. */
function auditMarks(audit: NetworkAudit, lost: readonly string[]): string[] {
  return brokenFindings(audit)
    .filter(({ kind }) => kind === 'topology' || audit.run.division === 'open')
    .filter(({ id }) => !MARKED_ELSEWHERE.includes(id))
    .filter((finding) => finding.kind === 'topology' || !isOfLost(finding, lost))
    .map(({ kind, why, evidence }) => {
      const text = why.replace(/\.$/, '');
      return kind === 'topology' ? text : `${text}: ${evidence.join('; ')}`;
    });
}

/** In the Network division a broken rule makes a run INVALID. */
export function brokenRules(
  { run, rules }: Pick<NetworkAudit, 'run' | 'rules'>,
  output: string,
): Judgement['problems'] {
  const broken = rules.filter(({ kind, verdict }) => kind === 'rule' && verdict === 'broken');
  if (broken.length === 0 || run.division === 'open') return [];
  const seen = broken.map(({ id }) => id).join(', ');
  const whose = hasNetworkDivision(run.round) ? '' : ' of v4.1, which a run of v0.5 is held to,';
  const text = `The run breaks rules of the Network division${whose} (${seen}): see "longhaul audit ${output}".`;
  return [{ rule: 'network-rules', text, needed: 'no broken rule', seen }];
}

function selfCheckMarks({ state, differingFiles }: SelfCheck): string[] {
  if (state !== 'modified') return [];
  return [
    `longhaul differs in ${counted(differingFiles.length, 'file')} from what was built: see "longhaul loadgen self-check"`,
  ];
}

/** @param lost Nodes that cannot report their counts; a note on each states that it is gone. */
export function ledgerNote({ run, nodes: all }: NetworkAudit, lost: readonly string[]): string {
  const nodes = all.filter(({ address }) => !lost.includes(address));
  const { title, traits } = protocolNamed(run.protocol);
  if (!traits.hasLedger) {
    return `${title} has no ledger: what arrived is known to the server alone, and the counts of this run are those of one end`;
  }
  if (!run.isComplete) {
    return 'the counts of the two ends were not compared, because the run did not come to its end';
  }
  const differing = nodes.filter(({ differences }) => differences.length > 0);
  if (differing.length > 0) {
    const addresses = differing.map(({ address }) => address).join(', ');
    return `the two ends counted differently (${addresses}): "longhaul audit" shows what`;
  }
  const silent = nodes.filter(({ theirs }) => theirs === null).map(({ address }) => address);
  if (silent.length > 0)
    return `no ledger of ${silent.join(', ')} to compare with: what arrived there is not known`;
  const sum = (field: 'sampleCount' | 'payloadBytes' | 'digestedSampleCount'): number =>
    nodes.reduce((total, { ours }) => total + ours[field], 0);
  const digested = sum('digestedSampleCount');
  const digests = digested > 0 ? `, with the same digests of ${counted(digested, 'sample')}` : '';
  return (
    `both ends${nodes.length < all.length ? ', but for lost nodes,' : ''} counted ${sum('sampleCount')} samples and ${sum('payloadBytes')} payload bytes${digests}: ` +
    'evidence from both ends, not a proof against a SUT node that lies'
  );
}

function accuracyDetail(report: AccuracyReport, quality: NamedQuality): LoggedDetail {
  const { metric, value, correctCount, sampleCount } = report;
  return {
    key: 'longhaul_accuracy',
    value: {
      metric,
      total: String(sampleCount),
      ...(correctCount === undefined
        ? { value: String(value), needed: String(quality.target) }
        : { correct: String(correctCount), needed: String(neededCount(quality, sampleCount)) }),
      target: targetInWords(quality),
      met: String(isMet(report, quality)),
    },
  };
}

/** Lines of the detail log about the network, in addition to LoadGen's. */
function networkDetails({ run, nameCalls }: NetworkAudit): LoggedDetail[] {
  const roundTrips = nameCalls.flatMap(({ nodes }, i) =>
    nodes.map((node) => ({
      key: 'longhaul_name_round_trip',
      value: {
        call: String(i + 1),
        address: node.address,
        name: node.name ?? '',
        round_trip_ns: String(node.roundTripNs ?? ''),
        tcp_connect_ns: String(node.tcpConnectNs ?? ''),
        failure: node.failure ?? '',
      },
    })),
  );
  const value = { run_id: run.runId, division: run.division };
  return [{ key: 'longhaul_network_run', value }, ...roundTrips];
}
