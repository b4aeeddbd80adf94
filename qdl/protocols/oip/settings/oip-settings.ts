import assert from 'node:assert';
import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { choice, count, type SettingValues, text } from '../../../../shared/config/setting.ts';
import { type InputsAsked, parseInputShapes } from '../../../../shared/domain/input-shapes.ts';
import type { OipTensor } from '../../../../shared/domain/tensors.ts';
import {
  modelRef,
  OIP_METHODS,
  OIP_SERVICE_NAME,
  type OipContents,
  type OipMethod,
  type OipModelRef,
  type OipRequestPlan,
} from '../../../../shared/wire/oip/request-plan.ts';
import type { ProtocolRunValues, ProtocolValues } from '../../../dispatch/protocol.ts';
import {
  type DispatchSettings,
  type ProtocolSettings,
  requireStreams,
} from '../../../settings/dispatch-settings.ts';
import { SERVER_OPTIONS } from '../../../settings/server-options.ts';

/** Name of the protocol in files. */
export const OIP_NAME = 'oip';

const METHODS = ['auto', ...OIP_METHODS] as const;
const CONTENTS = ['auto', 'raw', 'typed'] as const;

/** Most samples of one query in one request. */
const BATCH_MAX = 4096;

/** Service that answers; also for verbs that only ask for names. */
export const OIP_SERVICE_OPTION = {
  oipService: text(
    'pkg.Service',
    `oip://: gRPC's name of the service (default: ${OIP_SERVICE_NAME})`,
  ),
};

/** Flags for the model and the method. */
export const OIP_OPTIONS = {
  ...SERVER_OPTIONS,
  oipMethod: choice(
    METHODS,
    'oip://: a ModelInfer call per request, long-lived ModelStreamInfer streams, or a stream per request (default: auto, the stream unless it limits the server)',
  ),
  oipContents: choice(
    CONTENTS,
    'oip://: raw_input_contents, or typed contents (default: auto, raw unless the server refuses it)',
  ),
  oipBatch: count(
    { min: 1, max: BATCH_MAX },
    'oip://: samples of one query in one request, at most (default: 1)',
  ),
  ...OIP_SERVICE_OPTION,
};

/** Values of {@link OIP_OPTIONS}. */
export type OipValues = Partial<SettingValues<typeof OIP_OPTIONS>>;

/** QDL settings for nodes that speak the Open Inference Protocol. */
export interface OipDispatch extends ProtocolSettings {
  /** gRPC name of the service. */
  readonly service: string;
  readonly model: OipModelRef;
  /** How samples become requests; undefined if only names and metadata are requested. */
  readonly plan?: OipRequestPlan;
  /** Trial requests to each node before the run; default: 0. */
  readonly trialCount?: number;
  /** Outputs of a model whose metadata lists none, from a trial response; part of the evidence. */
  readonly answeredOutputs?: readonly OipTensor[];
  /** Notes from before the run; part of the evidence. */
  readonly notes?: readonly string[];
}

/** The service and the model in the flags. */
export function oipSettingsOf(values: ProtocolValues): OipDispatch {
  // The values come from these flags.
  const { model, oipService: service = OIP_SERVICE_NAME } = values as OipValues;
  return { name: OIP_NAME, service, model: modelRef(model) };
}

/** Requested settings of this protocol, before any server is asked. */
export interface OipAsked extends InputsAsked {
  readonly method: OipMethod | 'auto';
  readonly contents: OipContents | 'auto';
  /** Samples of one query in one request. */
  readonly samplesPerRequest: number;
}

/** @throws MlperfError `ERR_CONFIG_INVALID` if the model is missing or a shape is malformed */
export function oipAsked(values: ProtocolRunValues): OipAsked {
  const { sut, inputShape } = values;
  // The values come from these flags.
  const { model, oipMethod, oipContents, oipBatch } = values as OipValues;
  if (model === undefined) {
    throw configInvalid(
      `--model NAME is needed with oip://: "longhaul probe ${sut[0]}" shows what the server has`,
    );
  }
  return {
    method: oipMethod ?? 'auto',
    contents: oipContents ?? 'auto',
    samplesPerRequest: oipBatch ?? 1,
    ...parseInputShapes(inputShape ?? []),
  };
}

/** QDL settings of this protocol. */
export function oipOf({ protocol }: Pick<DispatchSettings, 'protocol'>): OipDispatch {
  assert(protocol.name === OIP_NAME, 'settings of the Open Inference Protocol are missing');
  return protocol as OipDispatch; // The protocol's name was checked.
}

/**
 * Refuses settings that have no effect over OIP. Streams and connections are checked once the
 * method is known.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkOipSettings(settings: DispatchSettings): void {
  const { streamsPerNode, encoding } = settings;
  const { plan } = oipOf(settings);
  if (encoding.compression !== 'identity') {
    throw configInvalid(
      `samples cannot be compressed (${encoding.compression}) over the Open Inference Protocol, which has no field to ` +
        'state it; use --compression identity',
    );
  }
  if (plan === undefined) return;
  // Calls use connections without streams.
  if (plan.method === 'stream') requireStreams(settings);
  else if (streamsPerNode > 1) {
    throw configInvalid(
      `--streams ${streamsPerNode} is for --oip-method stream; for calls use --connections`,
    );
  }
}
