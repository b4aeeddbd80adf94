import {
  compareOipWays,
  describeOipModels,
  type OipTrial,
  tryOipRequest,
} from '../../../qdl/index.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { OIP_ELEMENT_BYTES } from '../../../shared/domain/data-types.ts';
import { type OipTensor, tensorsText } from '../../../shared/domain/tensors.ts';
import { benchmarkEncoding } from '../../../shared/rules/benchmark-rules.ts';
import {
  SYNTHETIC_BENCHMARKS,
  SYNTHETIC_SAMPLE_BYTES_DEFAULT,
} from '../../../shared/rules/rows/synthetic-samples.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type { OipMethod, OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import type { DataSet, PrepareProgress } from '../../samples/data-set/data-set.ts';
import {
  chooseMethod,
  findRequest,
  type OipWay,
  requestWays,
} from '../../samples/oip/find-request.ts';
import type { OipAsked } from '../../samples/oip/oip-asked.ts';
import { openTensorDataSet } from '../../samples/oip/open-tensor-data-set.ts';
import type { OipContents } from '../../samples/oip/request-fields.ts';
import {
  layoutOfSample,
  type RequestLayout,
  requestLayout,
  requestPlan,
  withOutputs,
} from '../../samples/oip/request-layout.ts';
import { withDeclaredInputs } from '../../samples/oip/resolve-inputs.ts';
import { answeredOutputs } from '../../samples/oip/response-class.ts';
import {
  benchmarkTensors,
  fileTensors,
  type SampleTensors,
  scoreReadable,
  wireDataSet,
  wirePayload,
} from '../../samples/oip/wire-data-set.ts';
import type { NamedTensor } from '../../samples/tensors/tensor-data-set.ts';
import { orAbort, type RunHost } from '../host/host.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/** A run over the Open Inference Protocol whose servers took a request. */
export interface PreparedOip {
  /** With the plan of the requests, and the encoding that fits. */
  readonly plan: RunPlan;
  /** Payloads as the plan has them. */
  readonly dataSet: DataSet;
}

/** Samples before it is known how they travel. */
interface OpenedSamples {
  readonly dataSet: DataSet;
  readonly sampleTensors: SampleTensors;
  /** True where all have the sizes of the layout. */
  readonly isUniform: boolean;
}

/**
 * Told before a server is asked, as waiting for one may take long.
 * @throws MlperfError `ERR_CONFIG_INVALID` where nothing says what the samples are
 */
export function requireSamples({ rules, dataFolder, oip }: RunPlan): void {
  if (oip === undefined || oip.data !== undefined) return;
  if (rules.sampleTensors !== undefined || dataFolder !== undefined) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    'samples are needed: --data random, zeros, npy:DIR or jsonl:FILE; --data-dir FOLDER of raw contents; or a --benchmark',
  );
}

/**
 * Asks the servers what their model is, joins it with the samples of the run, and sends one request to try it: what does not
 * fit is told before minutes go into the data set, wherever a request can be made without it.
 * @throws MlperfError `ERR_MODEL`, `ERR_SUT_REFUSED` with the servers' words, and what opening the data set throws
 */
export async function prepareOip(
  plan: RunPlan,
  asked: OipAsked,
  host: RunHost,
  onProgress: PrepareProgress,
): Promise<PreparedOip> {
  const onWait = (address: string, what: string): void =>
    host.progress?.(`waiting for server ${address}`, what);
  const facts = declared(
    plan,
    asked,
    await orAbort(host, describeOipModels(plan.dispatch, onWait)),
  );
  host.progress?.(null);
  const layout = layoutOf(plan, asked, facts);
  const encoded = withEncoding(plan, layout);
  const trial = { plan: encoded, asked, facts, host };
  // Zeros have the right sizes; of texts and files nobody knows what they are before one is read.
  const early = canTryZeros(asked, layout)
    ? await tryRequest(trial, { layout, isUniform: true, sample: zerosOf(layout) })
    : undefined;
  const samples = await orAbort(host, openSamples(encoded, asked, layout, onProgress));
  const found =
    early ?? (await tryRequest(trial, await orAbort(host, firstOf(encoded, layout, samples))));
  checkResponse(found, facts);
  return {
    plan: withRequest(encoded, found),
    dataSet: wireDataSet(samples.dataSet, {
      plan: found.request,
      contents: found.contents,
      sampleTensors: samples.sampleTensors,
      responseClass: found.layout.responseClass,
      responseTensor: plan.rules.responseTensor,
    }),
  };
}

/** What a program's own payloads need of servers: nothing is made of them, so they have to be what a request takes. */
export interface GivenPayloads {
  readonly plan: RunPlan;
  /** Bytes of each payload. */
  readonly payloadBytes: number;
  /** The data set with scores that follow the model's outputs. */
  readonly readable: (dataSet: DataSet) => DataSet;
}

/**
 * As {@link prepareOip}, for payloads that somebody else holds: they go as the raw contents of all inputs.
 * @throws MlperfError `ERR_CONFIG_INVALID` where the model's inputs have no fixed sizes, and as {@link prepareOip}
 */
export async function prepareGivenPayloads(
  plan: RunPlan,
  asked: OipAsked,
  host: Pick<RunHost, 'signal'>,
): Promise<GivenPayloads> {
  const facts = declared(plan, asked, await orAbort(host, describeOipModels(plan.dispatch)));
  const layout = layoutOf(plan, asked, facts);
  const sizes = layout.inputs.map(({ sampleBytes }) => sampleBytes);
  const free = layout.inputs.filter(({ sampleBytes }) => sampleBytes === undefined);
  if (free.length > 0) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `payloads of a program are raw contents of fixed sizes, which inputs of model ${facts[0]?.name} do not have ` +
        `(${tensorsText(free)}): say lengths by --input-shape; texts go by "longhaul run --data"`,
    );
  }
  const trial = { plan, asked: { ...asked, contents: 'raw' as const }, facts, host };
  const found = await tryRequest(trial, { layout, isUniform: true, sample: zerosOf(layout) });
  checkResponse(found, facts);
  const { responseTensor } = plan.rules;
  return {
    plan: withRequest(plan, found),
    payloadBytes: sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
    readable: (dataSet) => {
      const scoreAccuracy = scoreReadable(dataSet, found.layout.responseClass, responseTensor);
      return { ...dataSet, scoreAccuracy };
    },
  };
}

/** The models with the inputs that are declared. */
function declared(
  { rules }: RunPlan,
  asked: OipAsked,
  facts: readonly OipModelFacts[],
): readonly OipModelFacts[] {
  return facts.map((one) => withDeclaredInputs(one, asked, rules.sampleTensors));
}

function canTryZeros({ data }: OipAsked, { inputs }: RequestLayout): boolean {
  const isMadeUp = data === undefined || data.kind === 'random' || data.kind === 'zeros';
  return isMadeUp && inputs.every(({ sampleBytes }) => sampleBytes !== undefined);
}

function layoutOf(
  { rules, synthetic, encodingName }: RunPlan,
  asked: OipAsked,
  facts: readonly OipModelFacts[],
): RequestLayout {
  const isSynthetic = (SYNTHETIC_BENCHMARKS as readonly string[]).includes(rules.key);
  return requestLayout(
    rules,
    facts[0] as OipModelFacts, // One per node, and all of them describe one model.
    asked,
    asked.isEncodingSaid ? encodingName : undefined,
    isSynthetic ? (synthetic.sampleBytes ?? SYNTHETIC_SAMPLE_BYTES_DEFAULT) : undefined,
  );
}

/** The plan with the encoding that the model takes. */
function withEncoding(plan: RunPlan, { encodingName }: RequestLayout): RunPlan {
  if (encodingName === undefined || encodingName === plan.encodingName) return plan;
  const encoding = benchmarkEncoding(plan.rules, encodingName);
  return {
    ...plan,
    encodingName,
    encoding,
    compression: { ...plan.compression, encoding },
    dispatch: { ...plan.dispatch, encoding },
  };
}

async function openSamples(
  { rules, dataFolder, cacheFolder, generated, synthetic }: RunPlan,
  { data, dataSeed, dataCount }: OipAsked,
  { inputs }: RequestLayout,
  onProgress: PrepareProgress,
): Promise<OpenedSamples> {
  if (data !== undefined) {
    const dataSet = await openTensorDataSet(data, inputs, { dataSeed, dataCount, onProgress });
    const { isUniform } = dataSet;
    return { dataSet, isUniform, sampleTensors: (index) => dataSet.sampleTensors(index) };
  }
  const { openDataSet } = await loadgenBenchmark(rules.key);
  const options = { dataFolder, cacheFolder, generated, synthetic, onProgress };
  const dataSet = await openDataSet(options);
  const [input] = inputs;
  return {
    dataSet,
    isUniform: inputs.every(({ sampleBytes }) => sampleBytes !== undefined),
    sampleTensors:
      rules.sampleTensors === undefined || input === undefined
        ? await fileTensors(dataSet, inputs)
        : benchmarkTensors(dataSet, input),
  };
}

/** What all trials of a run share. */
interface TrialParts {
  readonly plan: RunPlan;
  readonly asked: OipAsked;
  readonly facts: readonly OipModelFacts[];
  readonly host: Pick<RunHost, 'signal'>;
}

/** What a request is tried with. */
interface TrialSample {
  readonly layout: RequestLayout;
  readonly isUniform: boolean;
  readonly sample: readonly NamedTensor[];
}

function zerosOf({ inputs }: RequestLayout): NamedTensor[] {
  return inputs.map((input) => ({ ...input, raw: new Uint8Array(input.sampleBytes ?? 0) }));
}

/** The first sample; where all are alike, the layout is its own. */
async function firstOf(
  { encoding }: RunPlan,
  layout: RequestLayout,
  { sampleTensors, isUniform }: OpenedSamples,
): Promise<TrialSample> {
  const sample = await sampleTensors(0, encoding.form);
  return { isUniform, sample, layout: isUniform ? layoutOfSample(layout, sample) : layout };
}

/** The requests of the run, as all servers took them. */
interface FoundPlan {
  /** With the outputs. */
  readonly layout: RequestLayout;
  /** Set where the metadata have no outputs. */
  readonly answeredOutputs: readonly OipTensor[] | undefined;
  readonly request: OipRequestPlan;
  readonly contents: OipContents;
  readonly trials: readonly OipTrial[];
  readonly trialCount: number;
  /** Why requests go so, and what was refused before. */
  readonly notes: readonly string[];
}

/** A request that all servers take; where it goes on a stream, several at once decide whether it stays there. */
async function tryRequest(parts: TrialParts, trialSample: TrialSample): Promise<FoundPlan> {
  const found = await tryOneRequest(parts, trialSample);
  const { plan, asked, facts, host } = parts;
  const { request, contents } = found;
  if (request.method !== 'stream') return found;
  const { dispatch } = plan;
  const oip = dispatch.oip as NonNullable<typeof dispatch.oip>; // Set wherever `asked` is.
  const payload = wirePayload(0, trialSample.sample, { plan: request, contents });
  const settings = { ...dispatch, oip: { ...oip, plan: request } };
  const { streamsPerNode: streamCount, tokenLatencies: needsTokens } = dispatch;
  const chosen = await chooseMethod(
    { method: asked.method, streamCount, facts, needsTokens },
    (calls) => orAbort(host, compareOipWays(settings, { payload, calls })),
  );
  return {
    ...{ ...found, request: { ...request, method: chosen.method } },
    trialCount: found.trialCount + chosen.trialCount,
    notes: [...chosen.notes, ...found.notes],
  };
}

async function tryOneRequest(
  { plan, asked, facts, host }: TrialParts,
  { layout, isUniform, sample }: TrialSample,
): Promise<FoundPlan> {
  const { dispatch } = plan;
  const oip = dispatch.oip as NonNullable<typeof dispatch.oip>; // Set wherever `asked` is.
  const { samplesPerRequest } = asked;
  const ways = requestWays({ asked, facts, needsTokens: dispatch.tokenLatencies });
  const planOf = (of: RequestLayout, { method, contents }: OipWay): OipRequestPlan =>
    requestPlan(of, {
      ...{ method, contents, samplesPerRequest, isUniform },
      model: oip.model,
    });
  const tryWays = (of: RequestLayout, tried: readonly OipWay[]) =>
    orAbort(
      host,
      findRequest<OipTrial>(tried, (way) => {
        const request = planOf(of, way);
        const payload = wirePayload(0, sample, { plan: request, contents: way.contents });
        return tryOipRequest({ ...dispatch, oip: { ...oip, plan: request } }, payload);
      }),
    );
  // Several samples share a request in raw contents only: the typed fallback is none then.
  const possible = ways.filter(
    ({ contents }) => samplesPerRequest === 1 || contents === 'raw' || asked.contents === 'typed',
  );
  const { notes, ...found } = await tryWays(layout, possible);
  const refusals = notes.map((note) => `before the run a request was refused: ${note}`);
  if (layout.outputs.length > 0) {
    const request = planOf(layout, found);
    return { ...found, layout, request, answeredOutputs: undefined, notes: refusals };
  }
  const answered = answeredOutputs(found.trials, layout.hasBatchAxis);
  const whole = withOutputs(layout, plan.rules, answered);
  // Now that it is known what is read: contents that do not fit their shapes, too, are told before the run.
  const again = await tryWays(whole, [found]);
  return {
    ...{ layout: whole, request: planOf(whole, found), answeredOutputs: answered },
    ...{ contents: found.contents, notes: refusals, trials: again.trials },
    trialCount: found.trialCount + again.trialCount,
  };
}

/** @throws MlperfError `ERR_MODEL` where a response cannot be what the benchmark asks for */
function checkResponse(
  { layout, trials }: Pick<FoundPlan, 'layout' | 'trials'>,
  facts: readonly OipModelFacts[],
): void {
  const { responseClass } = layout;
  if (responseClass === undefined || responseClass.form === 'scores') return;
  const { output } = responseClass;
  const needed = OIP_ELEMENT_BYTES[output.datatype];
  const wrong = trials.find(({ responseBytes }) => responseBytes !== needed);
  if (wrong === undefined) return;
  throw new MlperfError(
    'ERR_MODEL',
    `${wrong.address} answered a sample with ${wrong.responseBytes} bytes of output "${output.name}" of model ${facts[0]?.name}; ` +
      `a class is one ${output.datatype} of ${needed} bytes`,
  );
}

function withRequest(plan: RunPlan, found: FoundPlan): RunPlan {
  const { dispatch } = plan;
  const oip = dispatch.oip as NonNullable<typeof dispatch.oip>; // As in tryRequest.
  const notes = [
    requestNote(found),
    ...(found.answeredOutputs === undefined
      ? []
      : [
          `no metadata tell the outputs: they are those of an answer before the run (${tensorsText(found.answeredOutputs)})`,
        ]),
    ...found.notes,
  ];
  return {
    ...plan,
    dispatch: {
      ...dispatch,
      oip: {
        ...{ ...oip, plan: found.request, trialCount: found.trialCount, notes },
        ...(found.answeredOutputs !== undefined && { answeredOutputs: found.answeredOutputs }),
      },
    },
  };
}

const WORDS_OF_METHOD: Readonly<Record<OipMethod, string>> = {
  unary: 'by ModelInfer calls',
  stream: 'on ModelStreamInfer streams',
  'stream-per-request': 'on a ModelStreamInfer stream per request',
};

/** How samples travelled; who was asked, the evidence of the run tells. */
function requestNote({ request, contents }: Pick<FoundPlan, 'request' | 'contents'>): string {
  const { method, samplesPerRequest } = request;
  const how = WORDS_OF_METHOD[method];
  const batch =
    samplesPerRequest === 1 ? '' : `, up to ${samplesPerRequest} samples of a query in a request`;
  return `queries went by the Open Inference Protocol, ${how}, ${contents} contents${batch}`;
}
