import {
  compareOipWays,
  type DispatchSettings,
  describeOipModels,
  type OipTrial,
  tryOipRequest,
} from '../../../qdl/index.ts';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { elementCount, OIP_ELEMENT_BYTES, tensorsText } from '../../../shared/domain/tensors.ts';
import { benchmarkEncoding } from '../../../shared/rules/benchmark-rules.ts';
import { SYNTHETIC_SAMPLE_BYTES_DEFAULT } from '../../../shared/rules/rows/synthetic-samples.ts';
import type {
  OipMethod,
  OipModelFacts,
  OipRequestPlan,
} from '../../../shared/wire/oip/request-plan.ts';
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

/**
 * Reported before a server is asked, as waiting for one may take long.
 * @throws MlperfError `ERR_CONFIG_INVALID` where no setting tells what the samples are
 */
export function requireSamples({ rules, dataFolder, oip }: RunPlan): void {
  if (oip === undefined || oip.data !== undefined) return;
  if (rules.sampleTensors !== undefined || dataFolder !== undefined) return;
  throw configInvalid(
    'samples are needed: --data random, zeros, npy:DIR or jsonl:FILE; --data-dir FOLDER of raw contents; or a --benchmark',
  );
}

/**
 * Asks the servers what their model is, joins it with the samples of the run, and sends one request to try it: what does not
 * fit is reported before minutes go into the data set, wherever a request can be made without it.
 * @returns The plan with that of the requests and the encoding that fits; the data set with payloads as the plan has them.
 * @throws MlperfError `ERR_MODEL`, `ERR_SUT_REFUSED` with the servers' words, and what opening the data set throws
 */
export async function prepareOip(
  plan: RunPlan,
  asked: OipAsked,
  host: RunHost,
  onProgress: PrepareProgress,
): Promise<{ readonly plan: RunPlan; readonly dataSet: DataSet }> {
  const facts = await askModels(plan, asked, host, (address, what) =>
    host.progress?.(`waiting for server ${address}`, what),
  );
  host.progress?.(null);
  const layout = layoutOf(plan, asked, facts);
  const encoded = withEncoding(plan, layout);
  const trial = { plan: encoded, asked, facts, host };
  const { data } = asked;
  const isMadeUp = data === undefined || data.kind === 'random' || data.kind === 'zeros';
  // Zeros have the right sizes; the sizes of texts and files are known once one is read.
  const early =
    isMadeUp && freeInputs(layout).length === 0
      ? await tryRequest(trial, zerosOf(layout))
      : undefined;
  const samples = await orAbort(host, openSamples(encoded, asked, layout, onProgress));
  const found =
    early ?? (await tryRequest(trial, await orAbort(host, firstOf(encoded, layout, samples))));
  checkResponse(found, facts, plan.rules);
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

/** Plan for a program's own payloads: they are sent as they are, so they must fit a request. */
export type GivenPayloads = Awaited<ReturnType<typeof prepareGivenPayloads>>;

/**
 * As {@link prepareOip}, for payloads of the caller: they go as the raw contents of all inputs.
 * @throws MlperfError `ERR_CONFIG_INVALID` where the model's inputs have no fixed sizes, and as {@link prepareOip}
 */
export async function prepareGivenPayloads(
  plan: RunPlan,
  asked: OipAsked,
  host: Pick<RunHost, 'signal'>,
) {
  const facts = await askModels(plan, asked, host);
  const layout = layoutOf(plan, asked, facts);
  const free = freeInputs(layout);
  if (free.length > 0) {
    throw configInvalid(
      `payloads of a program are raw contents of fixed sizes, which inputs of model ${facts[0]?.name} do not have ` +
        `(${tensorsText(free)}): say lengths by --input-shape; texts go by "longhaul run --data"`,
    );
  }
  const trial = { plan, asked: { ...asked, contents: 'raw' as const }, facts, host };
  const found = await tryRequest(trial, zerosOf(layout));
  checkResponse(found, facts, plan.rules);
  return {
    plan: withRequest(plan, found),
    /** Bytes of each payload. */
    payloadBytes: layout.inputs.reduce((sum, { sampleBytes }) => sum + (sampleBytes ?? 0), 0),
    /** The data set with scores that follow the model's outputs. */
    readable: (dataSet: DataSet): DataSet => ({
      ...dataSet,
      scoreAccuracy: scoreReadable(dataSet, found.layout.responseClass, plan.rules.responseTensor),
    }),
  };
}

/** The models, one per node, with the inputs that are declared. */
async function askModels(
  { dispatch, rules }: RunPlan,
  asked: OipAsked,
  host: Pick<RunHost, 'signal'>,
  onWait?: (address: string, what: string) => void,
): Promise<readonly OipModelFacts[]> {
  const facts = await orAbort(host, describeOipModels(dispatch, onWait));
  return facts.map((one) => withDeclaredInputs(one, asked, rules.sampleTensors));
}

function layoutOf(
  { rules, synthetic, encodingName }: RunPlan,
  asked: OipAsked,
  facts: readonly OipModelFacts[],
): RequestLayout {
  return requestLayout(
    rules,
    facts[0] as OipModelFacts, // One per node, and all of them describe one model.
    asked,
    asked.isEncodingSaid ? encodingName : undefined,
    rules.isSynthetic ? (synthetic.sampleBytes ?? SYNTHETIC_SAMPLE_BYTES_DEFAULT) : undefined,
  );
}

/** Inputs whose sizes the layout leaves open. */
function freeInputs({ inputs }: RequestLayout): RequestLayout['inputs'] {
  return inputs.filter(({ sampleBytes }) => sampleBytes === undefined);
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

/** Samples before it is known how they travel. `isUniform`: all have the sizes of the layout. */
async function openSamples(
  plan: RunPlan,
  { data, dataSeed, dataCount }: OipAsked,
  layout: RequestLayout,
  onProgress: PrepareProgress,
) {
  const { inputs } = layout;
  if (data !== undefined) {
    const dataSet = await openTensorDataSet(data, inputs, { dataSeed, dataCount, onProgress });
    const sampleTensors: SampleTensors = (index) => dataSet.sampleTensors(index);
    return { dataSet, isUniform: dataSet.isUniform, sampleTensors };
  }
  const { openDataSet } = await loadgenBenchmark(plan.rules.key);
  const dataSet = await openDataSet({ ...plan, onProgress });
  const [input] = inputs;
  const sampleTensors =
    plan.rules.sampleTensors === undefined || input === undefined
      ? await fileTensors(dataSet, inputs)
      : benchmarkTensors(dataSet, input);
  return { dataSet, isUniform: freeInputs(layout).length === 0, sampleTensors };
}

type OipDispatch = NonNullable<DispatchSettings['oip']>;

/** Input that all trials of a run share. */
interface TrialParts {
  readonly plan: RunPlan;
  readonly asked: OipAsked;
  readonly facts: readonly OipModelFacts[];
  readonly host: Pick<RunHost, 'signal' | 'progress'>;
}

/** Sample for a trial request. `isUniform`: all samples have its sizes. */
interface TrialSample {
  readonly layout: RequestLayout;
  readonly isUniform: boolean;
  readonly sample: readonly NamedTensor[];
}

function zerosOf(layout: RequestLayout): TrialSample {
  const zeros = layout.inputs.map((input) => ({
    ...input,
    raw: new Uint8Array(input.sampleBytes ?? 0),
  }));
  return { layout, isUniform: true, sample: zeros };
}

/** The first sample; where all are alike, the layout is its own. */
async function firstOf(
  { encoding }: RunPlan,
  layout: RequestLayout,
  { sampleTensors, isUniform }: Awaited<ReturnType<typeof openSamples>>,
): Promise<TrialSample> {
  const sample = await sampleTensors(0, encoding.form);
  return { isUniform, sample, layout: isUniform ? layoutOfSample(layout, sample) : layout };
}

/** Settings of the QDL with the plan of the requests, and what is known of it. */
function planned(
  { dispatch }: RunPlan,
  request: OipRequestPlan,
  others: Partial<OipDispatch> = {},
): DispatchSettings & { readonly oip: OipDispatch } {
  const oip = dispatch.oip as OipDispatch; // Set wherever `asked` is.
  return { ...dispatch, oip: { ...oip, plan: request, ...others } };
}

/** The requests of the run, as all servers took them. */
type FoundPlan = Awaited<ReturnType<typeof tryOneRequest>>;

/** A request that all servers take; where it goes on a stream, several at once decide whether it stays there. */
async function tryRequest(parts: TrialParts, trialSample: TrialSample): Promise<FoundPlan> {
  const found = await tryOneRequest(parts, trialSample);
  const { plan, asked, facts, host } = parts;
  const { request, contents } = found;
  if (request.method !== 'stream') return found;
  const payload = wirePayload(0, trialSample.sample, { plan: request, contents });
  const { streamsPerNode: streamCount, tokenLatencies: needsTokens } = plan.dispatch;
  const chosen = await chooseMethod(
    { method: asked.method, streamCount, facts, needsTokens },
    (calls) => {
      host.progress?.('comparing requests on one stream with calls', 'before the run');
      return orAbort(host, compareOipWays(planned(plan, request), { payload, calls }));
    },
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
) {
  const { samplesPerRequest } = asked;
  const { model } = plan.dispatch.oip as OipDispatch; // As in planned.
  const planOf = (of: RequestLayout, { method, contents }: OipWay): OipRequestPlan =>
    requestPlan(of, { method, contents, samplesPerRequest, isUniform, model });
  const tryWays = (of: RequestLayout, tried: readonly OipWay[]) =>
    orAbort(
      host,
      findRequest<OipTrial>(tried, (way) => {
        const request = planOf(of, way);
        const payload = wirePayload(0, sample, { plan: request, contents: way.contents });
        return tryOipRequest(planned(plan, request), payload);
      }),
    );
  // Several samples share a request in raw contents only: there is no typed fallback then.
  const { tokenLatencies: needsTokens } = plan.dispatch;
  const needsCalls = plan.otel !== undefined;
  const possible = requestWays({ asked, facts, needsTokens, needsCalls }).filter(
    ({ contents }) => samplesPerRequest === 1 || contents === 'raw' || asked.contents === 'typed',
  );
  const { notes, ...found } = await tryWays(layout, possible);
  const refusals = notes.map((note) => `before the run a request was refused: ${note}`);
  const first = { ...found, layout, request: planOf(layout, found), notes: refusals };
  if (layout.outputs.length > 0) return { ...first, answeredOutputs: undefined };
  const answered = answeredOutputs(found.trials, layout.hasBatchAxis);
  const whole = withOutputs(layout, plan.rules, answered);
  // The outputs are known now: contents that do not fit their shapes are reported before the run,
  // too.
  const { trials, trialCount } = await tryWays(whole, [found]);
  return {
    ...{
      ...first,
      layout: whole,
      request: planOf(whole, found),
      answeredOutputs: answered,
      trials,
    },
    trialCount: found.trialCount + trialCount,
  };
}

/** @throws MlperfError `ERR_MODEL` where a response cannot be what the benchmark asks for */
function checkResponse(
  { layout, trials }: FoundPlan,
  facts: readonly OipModelFacts[],
  { responseTensor }: RunPlan['rules'],
): void {
  const { responseClass } = layout;
  if (responseClass === undefined || responseClass.form === 'scores') return;
  const { output } = responseClass;
  // A class may be another type than the benchmark's own response, and is one number.
  const count = responseClass.form === 'same' ? elementCount(responseTensor?.shape ?? []) : 1;
  const needed = count * OIP_ELEMENT_BYTES[output.datatype];
  const wrong = trials.find(({ responseBytes }) => responseBytes !== needed);
  if (wrong === undefined) return;
  throw new MlperfError(
    'ERR_MODEL',
    `${wrong.address} answered a sample with ${wrong.responseBytes} bytes of output "${output.name}" of model ${facts[0]?.name}; ` +
      (count === 1
        ? `a class is one ${output.datatype} of ${needed} bytes`
        : `a response is ${count} ${output.datatype}, ${needed} bytes`),
  );
}

function withRequest(plan: RunPlan, found: FoundPlan): RunPlan {
  const { request, trialCount, answeredOutputs: answered } = found;
  const outputs = answered && [
    `no metadata tell the outputs: they are those of an answer before the run (${tensorsText(answered)})`,
  ];
  const notes = [requestNote(found), ...(outputs ?? []), ...found.notes];
  const others = { trialCount, notes, ...(answered && { answeredOutputs: answered }) };
  return { ...plan, dispatch: planned(plan, request, others) };
}

const WORDS_OF_METHOD: Readonly<Record<OipMethod, string>> = {
  unary: 'by ModelInfer calls',
  stream: 'on ModelStreamInfer streams',
  'stream-per-request': 'on a ModelStreamInfer stream per request',
};

/** How samples travelled; who was asked, the evidence of the run tells. */
function requestNote({ request, contents }: FoundPlan): string {
  const { method, samplesPerRequest } = request;
  const how = WORDS_OF_METHOD[method];
  const batch =
    samplesPerRequest === 1 ? '' : `, up to ${samplesPerRequest} samples of a query in a request`;
  return `queries went by the Open Inference Protocol, ${how}, ${contents} contents${batch}`;
}
