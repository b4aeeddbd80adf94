import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { ModelDescription__Output } from '../../../proto/gen/mlperf/network/v1/ModelDescription.ts';
import type { Opened__Output } from '../../../proto/gen/mlperf/network/v1/Opened.ts';
import {
  type MlperfError,
  messageOf,
  sutRefused,
  wireError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../shared/base/text.ts';
import type {
  NodeEvidence,
  NodeLedger,
  StreamEvidence,
} from '../../../shared/evidence/evidence-schema.ts';
import { ClaimBook } from '../../../shared/evidence/node-claims.ts';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
} from '../../../shared/evidence/payload-digest.ts';
import {
  agreedVersion,
  OWN_VERSIONS,
  ownSoftware,
  PROTOCOL_VERSION_MIN,
  toldSoftware,
  toldVersions,
  versionsInWords,
} from '../../../shared/wire/protocol-versions.ts';
import {
  TOKEN_STREAM_FEATURE,
  USAGE_FEATURE,
  WARM_UP_FEATURE,
} from '../../../shared/wire/sut-contract.ts';
import type { ModelInput, QdlNode } from '../../dispatch/query-dispatch-library.ts';
import { ReadyWait, type WaitProgress } from '../../dispatch/ready-wait.ts';
import { HandOverCounter } from '../../dispatch/run-ledger.ts';
import type { NodeMachine } from '../../dispatch/usage-series.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { DigestedLedger } from './channel/digested-ledger.ts';
import type { SutChannel } from './channel/sut-channel.ts';
import { ControlClient, requireBenchmark } from './node/control-client.ts';
import {
  BALANCED,
  compareLedgers,
  type Said,
  toDescription,
  toNodeLedger,
  toStream,
} from './node-evidence.ts';

/** Shortest timeout of a Ready call: a node busy with its model must not seem unreachable. */
const READY_CALL_MS_MIN = 500;

/** Characters, and numbers, of a node's text that a message shows. */
const SHOWN_LENGTH_MAX = 100;
const SHOWN_MAX = 10;

/** One SUT node as the QDL knows it: unary connection, answers, counts. */
export class SutNodeHandle implements QdlNode {
  readonly address: string;
  readonly control: ControlClient;
  readonly ledger: DigestedLedger = new DigestedLedger();
  readonly claims: ClaimBook = new ClaimBook();
  readonly handOvers: HandOverCounter = new HandOverCounter();
  readonly #settings: DispatchSettings;
  readonly #streams: StreamEvidence[] = [];
  #description: DescribeResponse__Output | undefined;
  #theirs: NodeLedger | undefined;
  #ledgerIdentity = '';
  #ledgerMissing = 'it was not requested: the node was lost, or the run was not complete';
  #differences: readonly string[] = [];

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#settings = settings;
    this.control = new ControlClient(address, settings);
  }

  /** Answer to Describe in {@link prepare}; undefined before, and if the node lacks Describe. */
  get description(): DescribeResponse__Output | undefined {
    return this.#description;
  }

  /** The node's model for the run's benchmark, if it reports one. */
  get model(): ModelDescription__Output | undefined {
    const { benchmark } = this.#settings;
    return this.#description?.models.find((model) => model.benchmark === benchmark);
  }

  get modelInputs(): ModelInput[] {
    const inputs = this.model?.inputs ?? [];
    return inputs.map(({ name, elementType, shape, emptyAxes }) => ({
      name,
      elementType,
      shape: shape.map((length, axis) =>
        Number(length) === 0 && !emptyAxes.includes(axis) ? -1 : Number(length),
      ),
    }));
  }

  get machine(): NodeMachine | undefined {
    const host = this.#description?.host ?? undefined;
    return host && { cpuCount: host.cpuCount, memoryBytes: Number(host.memoryBytes) };
  }

  /** Newest protocol version that both ends speak. Set after {@link prepare}. */
  get protocolVersion(): number {
    const description = this.#description;
    // A node without Describe gets the oldest version.
    if (description === undefined) return PROTOCOL_VERSION_MIN;
    return agreedVersion(toldVersions(description)) ?? PROTOCOL_VERSION_MIN;
  }

  get #isWarmUp(): boolean {
    return this.#settings.isWarmUp === true;
  }

  /** Share of the samples that both ends digest, in millionths; 0 if the node offers no digests. */
  get digestPerMillion(): number {
    const isOffered = this.#description?.features.includes(PAYLOAD_DIGESTS_FEATURE) ?? false;
    return isOffered && !this.#isWarmUp ? this.#settings.digestPerMillion : 0;
  }

  /**
   * Optional protocol features that the run wants to use with this node. Set after {@link prepare}.
   */
  get features(): string[] {
    if (this.#isWarmUp) return [WARM_UP_FEATURE];
    const isUsageOffered = this.#description?.features.includes(USAGE_FEATURE) ?? false;
    return [
      ...(this.digestPerMillion > 0 ? [PAYLOAD_DIGESTS_FEATURE] : []),
      ...(isUsageOffered ? [USAGE_FEATURE] : []),
      ...(this.#settings.tokenTimes ? [TOKEN_STREAM_FEATURE] : []),
    ];
  }

  /**
   * Waits until the node is ready and checks that it can take this run. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  async prepare(onWait: WaitProgress): Promise<void> {
    const { benchmark, readyTimeoutMs } = this.#settings;
    const wait = new ReadyWait(readyTimeoutMs);
    let hasVersions = false;
    for (;;) {
      const answer = await this.control.ready(benchmark, Math.max(wait.leftMs, READY_CALL_MS_MIN));
      // A node without Ready answers at Open.
      if (answer === undefined || answer.ready) break;
      if (answer.state === 'NODE_STATE_FAILED' || wait.isOver) {
        const why = answer.detail === '' ? answer.state : answer.detail;
        throw wait.error(`SUT node ${this.address}`, why);
      }
      // Describe may tell why waiting is useless: the node is up, but not for this run, or speaks
      // another version.
      if (answer.state === 'NODE_STATE_READY') await this.#describe();
      else if (!hasVersions) this.#checkVersions(await this.control.describe());
      hasVersions = true;
      onWait(this.address, wait.inWords(answer.detail));
      await wait.pause();
    }
    await this.#describe();
    this.ledger.digest = new PayloadDigestSum(this.digestPerMillion);
  }

  /**
   * Stores the node's Opened.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` if it does not match Open and the node's own Describe.
   */
  addOpened(
    opened: Opened__Output,
    { compressionCheck, own }: Pick<SutChannel, 'compressionCheck' | 'own'>,
  ): void {
    this.#streams.push(toStream(opened, compressionCheck, own));
    this.#checkEncodings(opened.encodings);
    const unasked = opened.features.filter((feature) => !this.features.includes(feature));
    if (unasked.length > 0) {
      const names = asOneLine(unasked.join(', ').slice(0, SHOWN_LENGTH_MAX));
      this.claims.add('unasked-feature', `named features in Opened that Open did not: ${names}`);
    }
    if (this.#isWarmUp && !opened.features.includes(WARM_UP_FEATURE)) {
      throw wireError(`SUT node ${this.address} has no ${WARM_UP_FEATURE}`);
    }
    if (this.features.includes(TOKEN_STREAM_FEATURE)) this.#requireTokens(opened);
    if (this.digestPerMillion > 0 && !opened.features.includes(PAYLOAD_DIGESTS_FEATURE)) {
      throw wireError(
        `SUT node ${this.address} offers ${PAYLOAD_DIGESTS_FEATURE} in Describe but not in Opened; ` +
          'run with --digest 0',
      );
    }
  }

  /**
   * @throws MlperfError `ERR_SUT_REFUSED`: otherwise times between tokens would cover only some
   * samples.
   */
  #requireTokens({ features }: Opened__Output): void {
    if (features.includes(TOKEN_STREAM_FEATURE)) return;
    const software = this.#description === undefined ? '' : ` (${toldSoftware(this.#description)})`;
    throw this.#refusal(
      `does not report tokens as they are generated${software}: it lacks ${TOKEN_STREAM_FEATURE}; leave out --token-times`,
    );
  }

  /**
   * Open offers one encoding, so a node may choose only that one or none.
   * @throws MlperfError `ERR_WIRE_PROTOCOL`
   */
  #checkEncodings(accepted: readonly number[]): void {
    if (accepted.length > 0 && accepted.every((index) => index === 0)) return;
    const { form, compression } = this.#settings.encoding;
    const indices = accepted.length === 0 ? 'none' : accepted.slice(0, SHOWN_MAX).join(', ');
    throw wireError(
      `SUT node ${this.address} answers with Opened.encodings ${indices}; ` +
        `Open offered 0 (${form}/${compression}) and no other`,
    );
  }

  /**
   * Requests the node's ledger of the run and compares it. After the run.
   * @returns Differences, one text each; empty if the ends agree or the node keeps no ledger.
   */
  async compareLedgers(runId: string): Promise<readonly string[]> {
    this.#differences = await this.#askLedger(runId);
    return this.#differences;
  }

  /** Identities given in Describe and on the streams, with their messages. */
  get saidIdentities(): readonly Said[] {
    return this.#said(({ nodeIdentity }) => nodeIdentity, this.#description?.nodeIdentity);
  }

  /** Names given in Describe and on the streams, with their messages. */
  get saidNames(): readonly Said[] {
    return this.#said(({ nodeName }) => nodeName, this.#description?.name);
  }

  #said(ofStream: (stream: StreamEvidence) => string, described = ''): readonly Said[] {
    const ofStreams = this.#streams.map((stream, i) => [`stream ${i}`, ofStream(stream)] as const);
    return [['Describe', described] as const, ...ofStreams].filter(([, text]) => text !== '');
  }

  /** The identities alone: more than one if the address is shared. */
  get identities(): ReadonlySet<string> {
    return new Set(this.saidIdentities.map(([, identity]) => identity));
  }

  /** Skips the comparison of ledgers; the evidence has the reason. */
  skipLedger(why: string): void {
    this.#ledgerMissing = `it was not compared: ${why}`;
  }

  /** Everything known about the node, as plain values. */
  evidence(): NodeEvidence {
    const { benchmark } = this.#settings;
    return {
      address: this.address,
      description:
        this.#description === undefined ? null : toDescription(this.#description, benchmark),
      streams: this.#streams,
      digestPerMillion: this.digestPerMillion,
      ours: this.ledger.toCounts(),
      theirs: this.#theirs ?? null,
      ledgerMissing: this.#theirs === undefined ? this.#ledgerMissing : null,
      ledgerIdentity: this.#ledgerIdentity,
      claims: this.claims.toClaims(),
      differences: this.#differences,
      ...this.handOvers.evidence(),
    };
  }

  async #askLedger(runId: string): Promise<string[]> {
    try {
      const answer = await this.control.ledger(runId);
      if (answer === undefined) {
        this.#ledgerMissing = 'the node lacks the method Ledger';
        return [];
      }
      const ours = this.ledger.toCounts();
      this.#ledgerIdentity = answer.nodeIdentity;
      if (this.#isOfAnother(answer.nodeIdentity)) {
        this.#ledgerMissing = 'another SUT node answered for it';
        return [
          `the address ${this.address} led to another SUT node when its ledger was requested: ${BALANCED}`,
        ];
      }
      // Other software may leave it out.
      if (answer.runId !== '' && answer.runId !== runId) {
        this.#ledgerMissing = 'the node reported the ledger of another run';
        const other = asOneLine(answer.runId.slice(0, SHOWN_LENGTH_MAX));
        return [`SUT node ${this.address} reported the ledger of run ${other} instead of ${runId}`];
      }
      if (!answer.known) {
        this.#ledgerMissing = 'the node does not know this run';
        return ours.partCount === 0 ? [] : [`SUT node ${this.address} does not know this run`];
      }
      this.#theirs = toNodeLedger(answer);
      const { encoding } = this.#settings;
      const streamCount = this.#streams.length;
      return compareLedgers(this.address, ours, this.#theirs, { encoding, streamCount });
    } catch (error) {
      this.#ledgerMissing = `the node did not report it: ${messageOf(error)}`;
      return [`SUT node ${this.address} did not report its ledger: ${messageOf(error)}`];
    }
  }

  /** True for an identity that the node never gave before; false for a node without identities. */
  #isOfAnother(identity: string): boolean {
    const { identities } = this;
    return identity !== '' && identities.size > 0 && !identities.has(identity);
  }

  /** @throws MlperfError `ERR_SUT_REFUSED` */
  async #describe(): Promise<void> {
    this.#description = await this.control.describe();
    if (this.#description !== undefined) this.#check(this.#description);
  }

  #check(description: DescribeResponse__Output): void {
    const { benchmark, encoding } = this.#settings;
    this.#checkVersions(description);
    // If Describe does not show it, Open will.
    requireBenchmark(this.address, benchmark, description);
    const { encodings } = this.model ?? { encodings: [] };
    const takes = encodings.some(
      (offer) =>
        offer.form === encoding.form && (offer.compression || 'identity') === encoding.compression,
    );
    if (encodings.length > 0 && !takes) {
      const offers = encodings.map((offer) => `${offer.form}/${offer.compression || 'identity'}`);
      throw this.#refusal(
        `does not take samples as ${encoding.form}/${encoding.compression}; it takes ${offers.join(', ')}`,
      );
    }
  }

  /** @throws MlperfError `ERR_SUT_REFUSED` if the two ends have no protocol version in common */
  #checkVersions(description: DescribeResponse__Output | undefined): void {
    if (description === undefined) return;
    const theirs = toldVersions(description);
    if (agreedVersion(theirs) !== undefined) return;
    const older = theirs.min > OWN_VERSIONS.max ? 'this LoadGen node' : 'the SUT node';
    throw this.#refusal(
      `(${toldSoftware(description)}) speaks ${versionsInWords(theirs)} of the protocol, this LoadGen node ` +
        `(${ownSoftware()}) ${versionsInWords(OWN_VERSIONS)}: upgrade ${older}, which is the older one, ` +
        'or use one release of longhaul on both ends',
    );
  }

  #refusal(what: string): MlperfError {
    return sutRefused(`SUT node ${this.address} ${what}`);
  }
}
