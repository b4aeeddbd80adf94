import { status as grpcStatus, type sendUnaryData } from '@grpc/grpc-js';
import type { DescribeResponse } from '../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemResponse } from '../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import type { ModelDescription } from '../../proto/gen/mlperf/network/v1/ModelDescription.ts';
import type { NodeLimits } from '../../proto/gen/mlperf/network/v1/NodeLimits.ts';
import type { ReadyResponse } from '../../proto/gen/mlperf/network/v1/ReadyResponse.ts';
import type { TensorDescription } from '../../proto/gen/mlperf/network/v1/TensorDescription.ts';
import { type Clock, timerClock } from '../../shared/base/clock.ts';
import { messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { settingsAsText } from '../../shared/evidence/settings-text.ts';
import { componentVersions, softwareComponents } from '../../shared/host/component-versions.ts';
import { toWire } from '../../shared/host/fact-kinds.ts';
import { thisHost } from '../../shared/host/host-facts.ts';
import {
  interruptible,
  type MachineSource,
  thisMachine,
} from '../../shared/host/machine-source.ts';
import { gatherSystemFacts, type SystemFacts } from '../../shared/host/system-facts.ts';
import {
  ownRuntimeFlags,
  readTuningFacts,
  type TuningFacts,
} from '../../shared/host/tuning-facts.ts';
import { OWN_VERSIONS } from '../../shared/wire/protocol-versions.ts';
import type { SutServiceHandlers } from '../../shared/wire/sut-contract.ts';
import { batchingInWords } from '../inference/batcher/dynamic-batcher.ts';
import { FREE, type LoadedModel, type ModelTensor } from '../model/model-facts.ts';
import { peerOfCall, type StreamOpeners, serveStream } from './connection/stream-call.ts';
import {
  configurationName,
  NODE_FEATURES,
  type NodeFacts,
  type NodeStatus,
  readBy,
} from './describe/node-offer.ts';
import { callerOf, seenOf } from './guard/call-seen.ts';
import type { InferServices } from './infer/infer-services.ts';
import type { InferStreams } from './infer/infer-streams.ts';
import type { RunLedgers } from './ledger/run-ledger.ts';
import { failedPrecondition, StreamRefusal } from './limits/call-end.ts';
import type { LinkTests } from './link-test/link-test.ts';

/**
 * The node, as the handlers read it. The server is up before the model is, so some of it comes
 * later.
 */
export interface ServedNode {
  readonly facts: NodeFacts;
  readonly status: NodeStatus;
  readonly ledgers: RunLedgers;
  readonly streams: InferStreams;
  /** Undefined where the node does not tell what machine it runs on. */
  readonly machine: MachineFacts | undefined;
  /** Undefined where the node takes no link tests. */
  readonly linkTests: LinkTests | undefined;
  /** Undefined until the model is loaded. */
  model(): LoadedModel | undefined;
  /** Undefined while the node does not serve Infer. */
  inferServices(): InferServices | undefined;
  limits(): NodeLimits;
}

/** How the node serves Infer and TestLink. */
export function streamOpeners(node: ServedNode): StreamOpeners {
  const { facts, status } = node;
  return {
    infer: (peer, address) => {
      node.linkTests?.endAll('a run begins');
      const why = `SUT node ${facts.name} is not ready: ${status.detail}`;
      const services = node.inferServices();
      const handler = node.streams.open(peer, address, services, why);
      if (handler === undefined || services === undefined) return undefined;
      return { handler, receiveBytesMax: services.limits.receiveBytesMax };
    },
    testLink: (peer) => {
      if (node.linkTests !== undefined) return node.linkTests.open(peer);
      const details = `SUT node ${facts.name} takes no link test: it was started with --link-test refused`;
      peer.end({ code: grpcStatus.PERMISSION_DENIED, details });
      return undefined;
    },
  };
}

/** The node's answers to every method of the service. */
export function createServiceHandlers(
  node: ServedNode,
  openers: StreamOpeners,
): SutServiceHandlers {
  const { facts } = node;
  return {
    Name: (call, callback) => {
      const { nonce } = call.request;
      const seen = seenOf(call.metadata);
      callback(null, { name: facts.name, nonce, nodeIdentity: facts.identity, seen });
    },
    Describe: (_call, callback) => {
      callback(null, describeResponse(facts, node.model(), node.limits()));
    },
    Ready: (call, callback) => {
      callback(null, readiness(node, call.request.benchmark, call.request.model));
    },
    Ledger: (call, callback) => {
      const ledger = node.ledgers.toWire(call.request.runId);
      const withNode = ledger.then((one) => ({ ...one, nodeIdentity: facts.identity }));
      answerLater(callback, withNode);
    },
    DescribeSystem: (_call, callback) => answerLater(callback, describeSystem(node)),
    TestLink: (call) => {
      const opened = openers.testLink({ seen: null, ...peerOfCall(call) }, '');
      if (opened !== undefined) serveStream(call, opened.handler);
    },
    Infer: (call) => {
      const peer = { seen: seenOf(call.metadata), ...peerOfCall(call) };
      // Once the peer is gone gRPC does not know any more who it was.
      const opened = openers.infer(peer, callerOf(call));
      if (opened !== undefined) serveStream(call, opened.handler);
    },
  };
}

/** A node is ready for its own benchmark and model only. */
function readiness(node: ServedNode, benchmark: string, model: string): ReadyResponse {
  const { offer } = node.facts;
  const { state, detail } = node.status;
  if (benchmark !== offer.benchmark) {
    const other = `this node serves benchmark "${offer.benchmark}", not "${benchmark}"`;
    return { ready: false, state, detail: other };
  }
  if (model !== '' && model !== offer.model) {
    const other = `this node serves model "${offer.model}", not "${model}"`;
    return { ready: false, state, detail: other };
  }
  const ready = state === 'NODE_STATE_READY';
  return { ready, state, detail: ready ? '' : detail };
}

/** @throws StreamRefusal where the node does not tell, or not now */
async function describeSystem({ facts, machine }: ServedNode): Promise<DescribeSystemResponse> {
  const { name, identity: nodeIdentity } = facts;
  if (machine === undefined) {
    const details = `SUT node ${name} does not tell what machine it runs on: it was started with --system-facts withheld`;
    throw new StreamRefusal(grpcStatus.PERMISSION_DENIED, details);
  }
  const kept = await machine.told();
  if (kept === undefined) {
    throw failedPrecondition(
      `SUT node ${name} does not read its machine while a run is going on: ask again after it`,
    );
  }
  return { name, nodeIdentity, ...toWire(kept) };
}

/** Answers a unary call once its answer is there, or says why there is none. */
function answerLater<T>(callback: sendUnaryData<T>, answer: Promise<T>): void {
  answer.then(
    (value) => callback(null, value),
    (error: unknown) =>
      callback(
        error instanceof StreamRefusal
          ? error.end
          : { code: grpcStatus.INTERNAL, details: messageOf(error) },
      ),
  );
}

/** Answers Describe. Before the model is loaded there is none to describe. */
function describeResponse(
  facts: NodeFacts,
  model: LoadedModel | undefined,
  limits: NodeLimits,
): DescribeResponse {
  const host = thisHost();
  const { listen, ...others } = facts.settings;
  return {
    name: facts.name,
    nodeIdentity: facts.identity,
    software: 'longhaul',
    softwareVersion: packageVersion(),
    components: componentVersions(),
    protocolVersionMin: OWN_VERSIONS.min,
    protocolVersionMax: OWN_VERSIONS.max,
    features: [...NODE_FEATURES],
    models: model === undefined ? [] : [describeModel(facts, model)],
    settings: {
      listen: `${listen.host}:${listen.port}`,
      ...settingsAsText(others),
      batching: batchingInWords(facts.settings, model),
      ...settingsAsText({ usage: model?.usage }),
      ...(model?.sequencesMax !== undefined && { sequencesMax: String(model.sequencesMax) }),
      ...(model !== undefined && { configuration: configurationName(facts, model) }),
    },
    host: { ...host, addresses: [...host.addresses] },
    limits,
  };
}

function describeModel({ offer }: NodeFacts, model: LoadedModel): ModelDescription {
  return {
    benchmark: offer.benchmark,
    model: offer.model,
    sha256: model.sha256,
    inputs: model.tensors.inputs.map(describeTensor),
    outputs: model.tensors.outputs.map(describeTensor),
    encodings: offer.encodings.filter(readBy(model)),
    responseEncodings: [offer.responseEncoding],
    isStandIn: model.isStandIn,
  };
}

function describeTensor({ name, elementType, shape }: ModelTensor): TensorDescription {
  return {
    name,
    elementType,
    shape: shape.map((length) => (length === FREE ? 0 : length)),
    emptyAxes: [...shape.keys()].filter((axis) => shape[axis] === 0),
  };
}

/** How long facts are cached: frequent calls do not make the node read often. */
const KEPT_NS = 60e9;

/** Facts of the node's machine and when they were read. */
interface KeptFacts {
  readonly facts: SystemFacts;
  readonly tuning: TuningFacts;
  /** ISO 8601, UTC. */
  readonly gatheredAt: string;
}

/** Parts that tests exchange. @internal */
interface MachineParts {
  readonly machine: () => MachineSource;
  readonly clock: Clock;
}

/**
 * Facts of the node's machine. Reading costs the I/O thread some ten to some hundred milliseconds
 * of small reads, and may start a program; so it is done on demand, once for all who ask, never
 * while a stream is open, and it ends when one is opened. During a run only what was read before is
 * told.
 */
export class MachineFacts {
  readonly #isRunning: () => boolean;
  readonly #parts: MachineParts;
  #kept: KeptFacts | undefined;
  #keptAtNs = Number.NEGATIVE_INFINITY;
  #reading: Promise<KeptFacts | undefined> | undefined;

  /** @param isRunning Whether a stream is open now. */
  constructor(isRunning: () => boolean, parts: Partial<MachineParts> = {}) {
    this.#isRunning = isRunning;
    this.#parts = { machine: thisMachine, clock: timerClock, ...parts };
  }

  /** Undefined where they would have to be read while a run is going on. */
  async told(): Promise<KeptFacts | undefined> {
    const isFresh = this.#parts.clock.nowNs() - this.#keptAtNs < KEPT_NS;
    if (this.#kept !== undefined && (isFresh || this.#isRunning())) return this.#kept;
    if (this.#isRunning()) return undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return (await this.#reading) ?? this.#kept;
  }

  async #read(): Promise<KeptFacts | undefined> {
    const source = interruptible(this.#parts.machine(), this.#isRunning);
    const facts = await gatherSystemFacts(source, softwareComponents());
    const tuning = await readTuningFacts(source, ownRuntimeFlags());
    // Fields left out for the run must not look like fields that could not be read.
    if (source.isInterrupted) return undefined;
    this.#kept = { facts, tuning, gatheredAt: new Date().toISOString() };
    this.#keptAtNs = this.#parts.clock.nowNs();
    return this.#kept;
  }
}
