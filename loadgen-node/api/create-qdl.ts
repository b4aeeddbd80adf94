import {
  askNames,
  checkDispatchSettings,
  createQueryDispatchLibrary,
  type QueryDispatchLibrary,
  resolveNodeAddresses,
} from '../../qdl/index.ts';
import { configInvalid, MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type {
  Query,
  ResponseSink,
  SamplePayloads,
  SystemUnderTest,
} from '../../shared/domain/system-under-test.ts';
import { checkCompression } from '../../shared/rules/check-compression.ts';
import { orAbort, type RunHost } from '../run/host/host.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { onlyTarget, withDispatch } from '../run/plan/target.ts';
import { runToPrepare } from '../run/prepare/prepare-run.ts';
import { checkOptions, namingOptions, type PlainOptions, planTest } from './options.ts';
import { SourcedSamples } from './sample-library.ts';

/**
 * SUT nodes on a network, and how queries get to them. Times are written as in a configuration
 * file: `5s`.
 */
export interface QdlOptions {
  /**
   * Addresses: `host:port`, or `dns:///name:port` for all addresses of a name; `oip://host:port`
   * for servers of the Open Inference Protocol, which receive payloads as raw contents of all model
   * inputs.
   */
  readonly nodes: readonly string[];
  /** `oip://`: model of the server, `name` or `name:version`. */
  readonly model?: string;
  /** `oip://`: gRPC service name. Default: the standard's. */
  readonly oipService?: string;
  /** `oip://`: Default: `auto`, a stream unless the server lacks it or it limits the server. */
  readonly oipMethod?: 'auto' | 'unary' | 'stream' | 'stream-per-request';
  /** `oip://`: most samples of one query in one request. Default: 1. */
  readonly oipBatch?: number;
  /** `oip://`: lengths of the model's free axes, per sample: `name:3x224x224`. */
  readonly inputShape?: readonly string[];
  /**
   * Key of the benchmark that the nodes serve. Default: that of the samples; for your own library
   * `custom`.
   */
  readonly benchmark?: string;
  /**
   * `network`: enforces the rules of the Network division; `open`: does not, and the logs say so.
   * Default: `network`.
   */
  readonly division?: 'network' | 'open';
  /** Default: `least-outstanding`. */
  readonly policy?: 'least-outstanding' | 'round-robin' | 'weighted';
  /** Share of each node, in the order of `nodes`. */
  readonly weights?: readonly number[];
  readonly nodeOutstandingMax?: number;
  /** Default: `fail`. */
  readonly onNodeLoss?: 'fail' | 'drain' | 'continue';
  /** gRPC streams to each node, and TCP connections that they share. Default: 1. */
  readonly streams?: number;
  readonly connections?: number;
  /** Most payload bytes in one message. */
  readonly partBytesMax?: number;
  /** Longest wait for nodes that answer but are not ready. Default: `180s`. */
  readonly readyTimeout?: string;
  /** Accepted compressions of responses. Default: only `identity`. */
  readonly responseCompression?: readonly string[];
  /** Percent of the samples whose payloads both ends digest. Default: 1. */
  readonly digest?: number;
  readonly tls?: boolean;
  /** Paths of PEM files. */
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsServerName?: string;
  readonly tokenFile?: string;
  readonly keepaliveTime?: string;
  readonly keepaliveTimeout?: string;
}

const KEYS = [
  'model',
  'oipService',
  'oipMethod',
  'oipBatch',
  'inputShape',
  'benchmark',
  'division',
  'policy',
  'weights',
  'nodeOutstandingMax',
  'onNodeLoss',
  'streams',
  'connections',
  'partBytesMax',
  'readyTimeout',
  'responseCompression',
  'digest',
  'tls',
  'tlsCa',
  'tlsCert',
  'tlsKey',
  'tlsServerName',
  'tokenFile',
  'keepaliveTime',
  'keepaliveTimeout',
] as const satisfies readonly (keyof QdlOptions)[];

/**
 * A Query Dispatch Library: a SUT whose work SUT nodes do. It can serve many tests, one at a time.
 */
export interface Qdl extends SystemUnderTest {
  /** Addresses of the SUT nodes. */
  readonly nodes: readonly string[];
}

/** Result of {@link createQdl}: makes a new QDL for each test, with that test's settings. */
export class NetworkSut implements Qdl {
  readonly nodes: readonly string[];
  readonly options: PlainOptions;
  readonly samples: SamplePayloads;
  #isInUse = false;
  #library: QueryDispatchLibrary | undefined;

  constructor(options: PlainOptions, samples: SamplePayloads, nodes: readonly string[]) {
    this.nodes = nodes;
    this.options = { ...options, sut: nodes };
    this.samples = samples;
  }

  /**
   * Makes the QDL of the next test; {@link stop} ends its use.
   * @param host Its signal ends the wait for node names.
   * @returns The plan with resolved addresses, the QDL, and what its protocol learned about
   *   payloads, if it checked.
   * @throws MlperfError also if another test is using it: they would receive each other's
   *   responses.
   */
  async begin(plan: RunPlan, host: Pick<RunHost, 'signal'>) {
    if (this.#isInUse) {
      throw configInvalid(
        'startTest: sut is at work in another test; one QDL serves one test after the other',
      );
    }
    this.#isInUse = true;
    try {
      const nodes = await orAbort(host, resolveNodeAddresses(onlyTarget(plan).dispatch.nodes));
      const named = this.#withNodes(plan, nodes);
      const { dispatch, preparation } = onlyTarget(named);
      namingOptions(() => {
        checkDispatchSettings(dispatch);
        checkCompression(named.compression, named.division);
      });
      const { preparePayloads } = preparation;
      if (preparePayloads === null) {
        return { plan: named, library: await this.#make(named), given: undefined };
      }
      const given = await preparePayloads(runToPrepare(named, host));
      const prepared = withDispatch(named, given.settings);
      await orAbort(host, this.#checkFirst(given.payloadBytes));
      return { plan: prepared, library: await this.#make(prepared), given };
    } catch (error) {
      this.#isInUse = false;
      throw error;
    }
  }

  #withNodes(plan: RunPlan, nodes: string[]): RunPlan {
    const { digestOf, encoding } = this.samples;
    const { rules, encodingName } = plan;
    const { dispatch, preparation } = onlyTarget(plan);
    const digestPerMillion = digestOf === undefined ? 0 : dispatch.digestPerMillion;
    const own = {
      ...withDispatch(plan, { encoding, nodes, digestPerMillion }),
      compression: { ...plan.compression, encoding },
    };
    if (preparation.preparePayloads === null) return own;
    const names = Object.entries(rules.encodings);
    const [name] = names.find(([, { form }]) => form === encoding.form) ?? [encodingName];
    const isEncodingSaid = rules.sampleTensors !== undefined;
    return { ...own, encodingName: name, isEncodingSaid };
  }

  /**
   * Checks a first payload: a wrong length nearly always affects all samples, so it is reported
   * before the test.
   */
  async #checkFirst(payloadBytes: number): Promise<void> {
    if (!(this.samples instanceof SourcedSamples)) return;
    const { dataSet } = this.samples.source;
    const { length } = await dataSet.readPayload(0, this.samples.encoding.form);
    if (length === payloadBytes) return;
    throw new MlperfError(
      'ERR_DATA_SET',
      `sample 0 of ${dataSet.name} has ${length} bytes; the raw contents of the model's inputs have ${payloadBytes}`,
    );
  }

  async #make(plan: RunPlan): Promise<QueryDispatchLibrary> {
    this.#library = await createQueryDispatchLibrary(onlyTarget(plan).dispatch, this.samples);
    return this.#library;
  }

  async name(): Promise<string> {
    if (this.#library !== undefined) return this.#library.name();
    const { dispatch } = onlyTarget(planTest({ ...this.options, targetQps: 1 }));
    const nodes = await resolveNodeAddresses(dispatch.nodes);
    // A node without a name would have been refused.
    return (await askNames({ ...dispatch, nodes })).name as string;
  }

  start(sink: ResponseSink): Promise<void> {
    return this.#current.start(sink);
  }

  issueQuery(query: Query): void {
    this.#current.issueQuery(query);
  }

  flushQueries(): void {
    this.#current.flushQueries();
  }

  giveUp(): void {
    this.#current.giveUp();
  }

  async stop(): Promise<void> {
    const library = this.#library;
    this.#library = undefined;
    try {
      await library?.stop();
    } finally {
      this.#isInUse = false;
    }
  }

  get #current(): QueryDispatchLibrary {
    if (this.#library !== undefined) return this.#library;
    throw new MlperfError('ERR_INTERNAL', 'a QDL is started by startTest');
  }
}

/**
 * Makes the Query Dispatch Library for SUT nodes. It connects when the test starts (or at
 * `name()`).
 * @param samples Source of the payloads: {@link openSamples}, {@link samplesInMemory}, or your
 *   own library.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_BENCHMARK_UNKNOWN`, `ERR_RULE`
 */
export function createQdl(options: QdlOptions, samples: SamplePayloads): Qdl {
  const { nodes, ...others } = options;
  const own = checkOptions(others, KEYS, 'createQdl');
  const ofSamples = samples instanceof SourcedSamples ? samples.source.options : {};
  const { benchmark = ofSamples.benchmark ?? 'custom' } = own;
  if (ofSamples.benchmark !== undefined && benchmark !== ofSamples.benchmark) {
    throw configInvalid(
      `createQdl: benchmark: "${String(benchmark)}" is not that of the samples, which are of "${String(ofSamples.benchmark)}"`,
    );
  }
  checkOptions({ sut: nodes ?? [] }, ['sut'], 'createQdl: nodes');
  const qdl = new NetworkSut({ ...ofSamples, ...own, benchmark }, samples, nodes);
  planTest({ ...qdl.options, targetQps: 1 });
  return qdl;
}
