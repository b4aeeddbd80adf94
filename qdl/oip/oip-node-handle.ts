import type { ModelStatistics__Output } from '../../proto/gen/inference/ModelStatistics.ts';
import type { StatisticDuration__Output } from '../../proto/gen/inference/StatisticDuration.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { CallPath, OwnSide } from '../../shared/evidence/call-path.ts';
import type {
  NodeEvidence,
  OipDuration,
  OipNodeEvidence,
  OipStatistics,
} from '../../shared/evidence/evidence-schema.ts';
import { ClaimBook } from '../../shared/evidence/node-claims.ts';
import type { OipModelFacts } from '../../shared/wire/oip/request-plan.ts';
import { callPathOf } from '../connect/call-path.ts';
import type { QdlNode, WaitProgress } from '../dispatch/query-dispatch-library.ts';
import { RunLedgerCounter } from '../dispatch/run-ledger.ts';
import type { DispatchSettings, OipDispatch } from '../settings/dispatch-settings.ts';
import { askModelFacts, awaitModel } from './node/model-facts.ts';
import { OipControlClient } from './node/oip-control-client.ts';

/** One node that speaks the Open Inference Protocol: its connection for control calls, what it said, what was counted. */
export class OipNodeHandle implements QdlNode {
  readonly address: string;
  readonly control: OipControlClient;
  readonly ledger: RunLedgerCounter = new RunLedgerCounter();
  readonly claims: ClaimBook = new ClaimBook();
  readonly #settings: DispatchSettings;
  readonly #oip: OipDispatch;
  readonly #queryPaths: CallPath[] = [];
  #facts: OipModelFacts | undefined;
  #before: OipStatistics | null = null;
  #statistics: OipStatistics | null = null;

  constructor(address: string, settings: DispatchSettings, oip: OipDispatch) {
    this.address = address;
    this.#settings = settings;
    this.#oip = oip;
    this.control = new OipControlClient(address, settings, oip);
  }

  /**
   * Waits until the model is ready there and asks what it is. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  async prepare(onWait: WaitProgress): Promise<OipModelFacts> {
    const { model } = this.#oip;
    await awaitModel(this.control, model, this.#settings.readyTimeoutMs, onWait);
    this.#facts = await askModelFacts(this.control, model);
    return this.#facts;
  }

  /** Keeps the server's own statistics as they are before the run. */
  async beginStatistics(): Promise<void> {
    if (this.#facts?.hasStatistics === true) this.#before = await this.#askStatistics();
  }

  /** Keeps by how much the server's own statistics have grown. */
  async endStatistics(): Promise<void> {
    const before = this.#before;
    if (before === null) return;
    const after = await this.#askStatistics();
    this.#statistics = after === null ? null : growth(before, after);
  }

  /** A connection for queries works: what this end knows of its first call. */
  onAccepted(own: OwnSide): void {
    this.#queryPaths.push(callPathOf(own, null));
  }

  evidence(): NodeEvidence {
    return {
      address: this.address,
      description: null,
      streams: [],
      digestPerMillion: 0,
      ours: this.ledger.toCounts(),
      theirs: null,
      ledgerMissing: 'the Open Inference Protocol has none: only the LoadGen node counts',
      ledgerIdentity: '',
      claims: this.claims.toClaims(),
      differences: [],
      queryPaths: [...this.#queryPaths],
      ...(this.#facts === undefined ? {} : { oip: this.#evidenceOf(this.#facts) }),
    };
  }

  #evidenceOf(facts: OipModelFacts): OipNodeEvidence {
    const { server, name, versions, platform, sha256, inputs, outputs } = facts;
    return {
      serverName: server.name,
      serverVersion: server.version,
      extensions: server.extensions,
      modelName: name,
      modelVersions: versions,
      platform,
      ...(sha256 !== undefined && { modelSha256: sha256 }),
      inputs,
      outputs: outputs.length > 0 ? outputs : (this.#oip.answeredOutputs ?? []),
      // A part is one request.
      requestCount: this.ledger.partCount,
      trialCount: this.#oip.trialCount ?? 0,
      statistics: this.#statistics,
    };
  }

  /** Statistics only explain a run: a server that does not tell them any more has not broken it. */
  async #askStatistics(): Promise<OipStatistics | null> {
    try {
      const versions = await this.control.modelStatistics(this.#oip.model);
      return versions === undefined ? null : sumOfVersions(versions);
    } catch (error) {
      if (error instanceof MlperfError) return null;
      throw error;
    }
  }
}

const DURATIONS = [
  'success',
  'fail',
  'queue',
  'computeInput',
  'computeInfer',
  'computeOutput',
] as const satisfies readonly (keyof OipStatistics)[];

/** What a server counted of a model, over all versions that it told. */
export function sumOfVersions(versions: readonly ModelStatistics__Output[]): OipStatistics {
  const sumOf = (tell: (one: ModelStatistics__Output) => number): number =>
    versions.reduce((sum, one) => sum + tell(one), 0);
  const durations = DURATIONS.map((name): [string, OipDuration] => {
    const of = (one: ModelStatistics__Output): StatisticDuration__Output | null | undefined =>
      one.inferenceStats?.[name];
    return [
      name,
      { count: sumOf((one) => of(one)?.count ?? 0), ns: sumOf((one) => of(one)?.ns ?? 0) },
    ];
  });
  return {
    inferenceCount: sumOf((one) => one.inferenceCount),
    executionCount: sumOf((one) => one.executionCount),
    ...(Object.fromEntries(durations) as Record<(typeof DURATIONS)[number], OipDuration>),
  };
}

/** What was added between two questions; null where a count fell: the server began anew in between. */
export function growth(before: OipStatistics, after: OipStatistics): OipStatistics | null {
  const grown = {
    inferenceCount: after.inferenceCount - before.inferenceCount,
    executionCount: after.executionCount - before.executionCount,
    ...(Object.fromEntries(
      DURATIONS.map((name): [string, OipDuration] => [
        name,
        {
          count: after[name].count - before[name].count,
          ns: after[name].ns - before[name].ns,
        },
      ]),
    ) as Record<(typeof DURATIONS)[number], OipDuration>),
  };
  const fell = [grown.inferenceCount, grown.executionCount].some((count) => count < 0);
  return fell || DURATIONS.some((name) => grown[name].count < 0) ? null : grown;
}
