import { createQueryDispatchLibrary, type QueryDispatchLibrary } from '../../qdl/index.ts';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import type { InProcessHalf, InProcessNode } from '../../shared/domain/in-process-node.ts';
import type { SamplePayloads, SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import { thisHost } from '../../shared/host/host-facts.ts';
import type { SelfCheck } from '../loadgen/logs/write/header-lines.ts';
import type { GeneratorMonitor } from '../loadgen/results/generator-health.ts';
import { processMonitor } from '../observe/health/process-monitor.ts';
import { QuerySpanIds } from '../observe/spans/span-ids.ts';
import type { RunHost } from './host/host.ts';
import { type LocalSut, RunJudge } from './judge/judge-run.ts';
import { requirePayloadSize } from './judge/payload-size.ts';
import { modelDetail } from './judge/run-notes.ts';
import type { RunPlan } from './plan/run-plan.ts';
import { onlyTarget } from './plan/target.ts';
import type { PreparedRun } from './prepare/prepare-run.ts';
import type { WarmUpTest } from './prepare/warm-up.ts';

/**
 * A SUT as `measureSut` needs it: nodes behind a QDL, a model in this process, or the calling
 * program's own.
 */
export interface RunSut {
  readonly sut: SystemUnderTest;
  /**
   * Null without a network: such a run writes only LoadGen's logs, no record, audit, records or
   * summary.
   */
  readonly qdl: QueryDispatchLibrary | null;
  /**
   * Waits until queries may be issued. @throws MlperfError if they may not; the session then stops
   * the SUT.
   */
  ready(host: RunHost, warmUpTest: WarmUpTest): Promise<void>;
  /** Makes the judge of one run, for what LoadGen cannot see. */
  judge(plan: RunPlan, selfCheck: SelfCheck): RunJudge;
  /** Ids for the calls of sampled queries; absent: calls have no ids. */
  readonly spanIds?: QuerySpanIds | undefined;
  /** Watches LoadGen's process in a whole run; undefined: not watched. */
  readonly monitor: GeneratorMonitor | undefined;
}

/** The data set, for the judge and for the check of payload sizes. */
type JudgedSamples = Pick<PreparedRun, 'dataSet' | 'dataSetCheck'>;

/** Parts of a network SUT that a program may supply. */
interface NetworkSutOptions {
  readonly qdl: QueryDispatchLibrary;
  /** The SUT that LoadGen calls. Default: the QDL. */
  readonly sut?: SystemUnderTest;
  /** Called while a node is not ready. Default: the host's progress shows it. */
  readonly onWait?: (address: string, what: string) => void;
  /** False: payload sizes are not compared with the inputs of the nodes' models. Default: true. */
  readonly checksPayloads?: boolean;
  /** Default: none. */
  readonly warmUp?: PreparedRun['warmUp'];
  /** Default: none. */
  readonly spanIds?: QuerySpanIds | undefined;
}

/** SUT nodes over a QDL, which waits until all are ready. */
export function networkSut(
  samples: JudgedSamples,
  plan: RunPlan,
  { qdl, sut = qdl, onWait, checksPayloads = true, warmUp, spanIds }: NetworkSutOptions,
): RunSut {
  return {
    sut,
    qdl,
    spanIds,
    async ready(host, warmUpTest) {
      await qdl.connect(
        onWait ?? ((address, what) => host.progress?.(`waiting for SUT node ${address}`, what)),
      );
      if (checksPayloads) await requirePayloadSize(plan, samples.dataSet, qdl);
      await warmUp?.once(plan, host, qdl.nodes, warmUpTest);
    },
    judge: (judged, selfCheck) =>
      new RunJudge({ ...samples, plan: judged, sut: { qdl, selfCheck, host: thisHost } }),
    monitor: nodesMonitor(qdl),
  };
}

/** Like processMonitor; the nodes' machine reports count from the first set on. */
function nodesMonitor(qdl: QueryDispatchLibrary): GeneratorMonitor {
  const watchProcess = processMonitor(() => qdl.backPressure);
  return () => {
    qdl.beginUsage();
    return watchProcess();
  };
}

/** The nodes of a plan, over a QDL for this run only. */
export async function nodesOf(
  plan: RunPlan,
  prepared: JudgedSamples & Pick<PreparedRun, 'store' | 'warmUp'>,
): Promise<RunSut> {
  const spanIds = plan.otel && new QuerySpanIds(plan.otel.share);
  const dispatch = { ...onlyTarget(plan).dispatch, traceparentOf: spanIds?.traceparentOf };
  const qdl = await createQueryDispatchLibrary(dispatch, prepared.store);
  return networkSut(prepared, plan, { qdl, warmUp: prepared.warmUp, spanIds });
}

/** Mark in the logs of every run in process. */
const IN_PROCESS_MARK =
  'the SUT is in the process of LoadGen, without a network: no result of the Network or the closed division';

/** A model in this process, for one run. */
export function inProcessSut(
  node: InProcessNode,
  samples: JudgedSamples & { readonly store: SamplePayloads },
): RunSut {
  const { name, isStandIn } = node.model;
  const standIn = isStandIn
    ? [`the model in process, ${name}, is not known to be the benchmark's own`]
    : [];
  const marks = [IN_PROCESS_MARK, ...standIn];
  const details = [modelDetail('in process', node.model)];
  return localSut(node.openRun(samples.store), samples, { marks, details });
}

const NO_NETWORK =
  'the SUT is an object of the calling program, no nodes behind a network: not a run of the Network division';

/** A SUT supplied by the calling program. */
export function programSut(sut: SystemUnderTest, samples: JudgedSamples): RunSut {
  const said = { marks: [NO_NETWORK], details: [] };
  return { ...localSut(sut, samples, said), monitor: processMonitor(null) };
}

/** A SUT without nodes: ready at once; only its marks and details are known. */
function localSut(
  sut: SystemUnderTest,
  samples: JudgedSamples,
  said: Omit<LocalSut, 'qdl'>,
): RunSut {
  return {
    sut,
    qdl: null,
    monitor: undefined,
    ready: () => Promise.resolve(),
    judge: (plan) => new RunJudge({ ...samples, plan, sut: { qdl: null, ...said } }),
  };
}

/** Settings of `longhaul sut` with their sources. */
type SutSources = Parameters<InProcessHalf['startInProcessNode']>[0];

/**
 * Loads sut-node by path, and a model into this process: only this needs ONNX Runtime on the
 * LoadGen node.
 * @throws MlperfError like a SUT node's start
 */
export async function loadInProcessNode(
  sources: SutSources,
  host: RunHost,
): Promise<InProcessNode> {
  const { href } = compiledModule('sut-node/in-process/start-in-process-node.js');
  const half = (await import(href)) as InProcessHalf;
  return await half.startInProcessNode(sources, (fraction, what) => {
    host.progress?.(`in process: ${what}`, percentOf(fraction));
  });
}
