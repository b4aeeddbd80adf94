import { configInvalid, MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  elementCount,
  type NamedTensor,
  OIP_ELEMENT_BYTES,
  tensorsText,
} from '../../../../shared/domain/tensors.ts';
import type {
  OipMethod,
  OipModelFacts,
  OipRequestPlan,
} from '../../../../shared/wire/oip/request-plan.ts';
import type {
  OpenedSamples,
  PreparedPayloads,
  PreparedSamples,
  RunToPrepare,
  SamplesToPrepare,
} from '../../../dispatch/preparation.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';
import { withDeclaredInputs } from '../../tensors/model-inputs.ts';
import { layoutOfSample, type RequestLayout, withOutputs } from '../../tensors/request-layout.ts';
import { describeOipModels } from '../node/model-facts.ts';
import { type OipAsked, type OipDispatch, oipOf } from '../settings/oip-settings.ts';
import { answeredOutputs } from './answered-outputs.ts';
import { compareOipWays } from './compare-ways.ts';
import { chooseMethod, findRequest, type OipWay, requestWays } from './find-request.ts';
import { batchLayout, requestPlan } from './request-plan.ts';
import { type OipTrial, tryOipRequest } from './try-request.ts';
import { wirePayload } from './wire-payload.ts';

/** A run with the requested options of this protocol. */
interface AskedRun {
  readonly run: RunToPrepare;
  readonly asked: OipAsked;
}

/**
 * Asks the servers for their model, fits the run's samples to it, and sends one trial request. If a
 * request can be made without the data set, a misfit is reported before minutes of loading.
 * @throws MlperfError `ERR_MODEL`, `ERR_SUT_REFUSED` with the servers' messages, and the errors of
 * opening the data set
 */
export async function prepareOip<S extends OpenedSamples>(
  asked: OipAsked,
  run: SamplesToPrepare<S>,
): Promise<PreparedSamples<S>> {
  const { host, rules } = run;
  const facts = await askModels({ run, asked }, (address, what) =>
    host.progress?.(`waiting for server ${address}`, what),
  );
  host.progress?.(null);
  const layout = layoutOf({ run, asked }, facts);
  const { inputs, encodingName } = layout;
  const trial = { run, asked, facts };
  // If all sizes are fixed, a request of zeros suffices as trial. The size of a text or a file is
  // known only once a sample has been read.
  const early =
    run.isSizeKnown && freeInputs(layout).length === 0
      ? await tryRequest(trial, zerosOf(layout))
      : undefined;
  const samples = await host.orAbort(run.open(inputs, encodingName));
  const found = early ?? (await tryRequest(trial, await host.orAbort(firstOf(layout, samples))));
  checkResponse(found, facts, rules);
  const form = { plan: found.request, contents: found.contents };
  return {
    samples,
    encodingName,
    settings: withRequest(run.settings, found),
    responseClass: found.layout.responseClass,
    payloadOf: (sampleIndex, tensors) => wirePayload(sampleIndex, tensors, form),
  };
}

/**
 * {@link prepareOip} for payloads from a program, sent as the raw contents of all inputs.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the model's inputs have no fixed sizes, and as {@link
 * prepareOip}
 */
export async function prepareOipPayloads(
  asked: OipAsked,
  run: RunToPrepare,
): Promise<PreparedPayloads> {
  const facts = await askModels({ run, asked });
  const layout = layoutOf({ run, asked }, facts);
  const free = freeInputs(layout);
  if (free.length > 0) {
    throw configInvalid(
      `payloads of a program are raw contents of fixed sizes, which inputs of model ${facts[0]?.name} do not have ` +
        `(${tensorsText(free)}): give lengths by --input-shape, or send texts by "longhaul run --data"`,
    );
  }
  const raw = { ...asked, contents: 'raw' as const };
  const found = await tryRequest({ run, asked: raw, facts }, zerosOf(layout));
  checkResponse(found, facts, run.rules);
  return {
    settings: withRequest(run.settings, found),
    payloadBytes: layout.inputs.reduce((sum, { sampleBytes }) => sum + (sampleBytes ?? 0), 0),
    responseClass: found.layout.responseClass,
  };
}

/** The models, one per node, with declared inputs added. */
async function askModels(
  { run: { settings, rules, host }, asked }: AskedRun,
  onWait?: (address: string, what: string) => void,
): Promise<readonly OipModelFacts[]> {
  const facts = await host.orAbort(describeOipModels(settings, onWait));
  return facts.map((one) => withDeclaredInputs(one, asked, rules.sampleTensors));
}

function layoutOf(
  { run: { rules, encodingName, payloadBytes }, asked }: AskedRun,
  facts: readonly OipModelFacts[],
): RequestLayout {
  // In range: one per node. All of them describe one model.
  const model = facts[0] as OipModelFacts;
  return batchLayout(rules, model, asked, encodingName, payloadBytes);
}

/** Inputs without a fixed size in the layout. */
function freeInputs({ inputs }: RequestLayout): RequestLayout['inputs'] {
  return inputs.filter(({ sampleBytes }) => sampleBytes === undefined);
}

/** Parameters that all trials of a run share. */
interface TrialParts extends AskedRun {
  readonly facts: readonly OipModelFacts[];
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

/** The first sample; if all are alike, it fixes the layout. */
async function firstOf(
  layout: RequestLayout,
  { tensors, isUniform }: OpenedSamples,
): Promise<TrialSample> {
  const sample = await tensors(0);
  return { isUniform, sample, layout: isUniform ? layoutOfSample(layout, sample) : layout };
}

/** Settings of the QDL with the request plan and the trial's findings. */
function planned(
  settings: DispatchSettings,
  plan: OipRequestPlan,
  others: Partial<OipDispatch> = {},
): DispatchSettings {
  const protocol: OipDispatch = { ...oipOf(settings), plan, ...others };
  return { ...settings, protocol };
}

/** The requests of the run, as all servers accepted them. */
type FoundPlan = Awaited<ReturnType<typeof tryOneRequest>>;

/**
 * Finds a request that all servers accept. On a stream, several concurrent requests decide whether
 * to keep the stream.
 */
async function tryRequest(parts: TrialParts, trialSample: TrialSample): Promise<FoundPlan> {
  const found = await tryOneRequest(parts, trialSample);
  const { run, asked, facts } = parts;
  const { settings, host } = run;
  const { request, contents } = found;
  if (request.method !== 'stream') return found;
  const payload = wirePayload(0, trialSample.sample, { plan: request, contents });
  const { streamsPerNode: streamCount, tokenLatencies: needsTokens } = settings;
  const chosen = await chooseMethod(
    { method: asked.method, streamCount, facts, needsTokens },
    (calls) => {
      host.progress?.('comparing requests on one stream with calls', 'before the run');
      return host.orAbort(compareOipWays(planned(settings, request), { payload, calls }));
    },
  );
  return {
    ...found,
    request: { ...request, method: chosen.method },
    trialCount: found.trialCount + chosen.trialCount,
    notes: [...chosen.notes, ...found.notes],
  };
}

async function tryOneRequest(
  { run, asked, facts }: TrialParts,
  { layout, isUniform, sample }: TrialSample,
) {
  const { samplesPerRequest } = asked;
  const { settings, rules, host, wantsHeaders: needsCalls } = run;
  const { model } = oipOf(settings);
  const planOf = (of: RequestLayout, { method, contents }: OipWay): OipRequestPlan =>
    requestPlan(of, { method, contents, samplesPerRequest, isUniform, model });
  const tryWays = (of: RequestLayout, tried: readonly OipWay[]) =>
    host.orAbort(
      findRequest<OipTrial>(tried, (way) => {
        const request = planOf(of, way);
        const payload = wirePayload(0, sample, { plan: request, contents: way.contents });
        return tryOipRequest(planned(settings, request), payload);
      }),
    );
  // Several samples share a request only in raw contents: typed contents are no fallback then.
  const { tokenLatencies: needsTokens } = settings;
  const possible = requestWays({ asked, facts, needsTokens, needsCalls }).filter(
    ({ contents }) => samplesPerRequest === 1 || contents === 'raw' || asked.contents === 'typed',
  );
  const { notes, ...found } = await tryWays(layout, possible);
  const refusals = notes.map((note) => `before the run a request was refused: ${note}`);
  const first = { ...found, layout, request: planOf(layout, found), notes: refusals };
  if (layout.outputs.length > 0) return { ...first, answeredOutputs: undefined };
  const answered = answeredOutputs(found.trials, layout.hasBatchAxis);
  const whole = withOutputs(layout, rules, answered);
  // The outputs are known now: contents that do not fit their shapes are also reported before the
  // run.
  const { trials, trialCount } = await tryWays(whole, [found]);
  return {
    ...first,
    layout: whole,
    request: planOf(whole, found),
    answeredOutputs: answered,
    trials,
    trialCount: found.trialCount + trialCount,
  };
}

/** @throws MlperfError `ERR_MODEL` if a response cannot be the benchmark's */
function checkResponse(
  { layout, trials }: FoundPlan,
  facts: readonly OipModelFacts[],
  { responseTensor }: RunToPrepare['rules'],
): void {
  const { responseClass } = layout;
  if (responseClass === undefined || responseClass.form === 'scores') return;
  const { output } = responseClass;
  // A class may have another type than the benchmark's own response, and is one number.
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

function withRequest(settings: DispatchSettings, found: FoundPlan): DispatchSettings {
  const { request, trialCount, answeredOutputs: answered } = found;
  const outputs = answered && [
    `the metadata lists no outputs: they were taken from a response before the run (${tensorsText(answered)})`,
  ];
  const notes = [requestNote(found), ...(outputs ?? []), ...found.notes];
  const others = { trialCount, notes, ...(answered && { answeredOutputs: answered }) };
  return planned(settings, request, others);
}

const WORDS_OF_METHOD: Readonly<Record<OipMethod, string>> = {
  unary: 'by ModelInfer calls',
  stream: 'on ModelStreamInfer streams',
  'stream-per-request': 'on a ModelStreamInfer stream per request',
};

/** How samples were sent; the evidence lists the servers. */
function requestNote({ request, contents }: FoundPlan): string {
  const { method, samplesPerRequest } = request;
  const how = WORDS_OF_METHOD[method];
  const batch =
    samplesPerRequest === 1 ? '' : `, up to ${samplesPerRequest} samples of a query per request`;
  return `queries went by the Open Inference Protocol, ${how}, ${contents} contents${batch}`;
}
