import type { ServerProbe } from '../../../qdl/protocols/index.ts';
import { asOneLine, counted, upperMedian } from '../../../shared/base/text.ts';
import { tensorText } from '../../../shared/domain/tensors.ts';
import { isFinishReason } from '../../../shared/wire/oip/output-cutter.ts';
import { formatRate } from '../../samples/bandwidth-formulas.ts';
import {
  freeInputs,
  type ProbedModel,
  type ProbedTensor,
  type ReadyMadeRun,
} from './probed-model.ts';

/** Rate in samples/s of the printed bandwidth. */
const RATE = 1_000;

/** A listed model, and the proposed run; undefined if none is possible. */
export interface ListedModel {
  readonly probed: ProbedModel;
  readonly run: ReadyMadeRun | undefined;
}

/** State, models and tensors of a server as text. @param scheme Scheme of its address. */
export function probeText(
  scheme: string,
  probe: ServerProbe,
  models: readonly ListedModel[],
): string {
  const blocks = [
    serverLines(scheme, probe),
    ...models.map(({ probed }) => modelLines(probe, probed)),
    restLines(probe),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(asOneLine).join('\n')}\n`)
    .join('\n');
}

/**
 * Next step: a run for each model.
 * @param file Path of the written configuration; undefined: printed, if there is one model.
 */
export function nextText(
  probe: ServerProbe,
  models: readonly ListedModel[],
  file: string | undefined,
): string {
  const runs = models.flatMap(({ run }) => (run === undefined ? [] : [run]));
  const [only] = runs;
  if (only === undefined) return noRunText(probe, models);
  const fill = fillText(models);
  const what = models.length === 1 ? 'A run with random data' : 'Runs with random data';
  const commands = runs.map(({ command }) => `  ${command}\n`).join('');
  const intro = `\n${what}${fill}:\n\n${commands}`;
  if (models.length > 1) {
    return `${intro}\n"--model NAME" shows one of them as a configuration file, "--output FILE" writes it.\n`;
  }
  if (file !== undefined) return `${intro}\nThe same is in ${file}, for "longhaul run --config".\n`;
  return `${intro}\nThe same as a file for "longhaul run --config FILE" ("--output FILE" writes it):\n\n${only.config}`;
}

/** Explains how to replace the placeholders. */
function fillText(models: readonly ListedModel[]): string {
  const listed = models.filter(({ run }) => run?.hasPlaceholders === true);
  const isUntold = ({ probed }: ListedModel): boolean => probed.inputs.length === 0;
  const untold = listed.some(isUntold)
    ? ', with what the model takes in place of NAME:DATATYPE:LENGTHS (as image:FP32:-1x3x224x224, where -1 first counts samples)'
    : '';
  const free = listed.some((one) => !isUntold(one)) ? ', with a number in place of each N' : '';
  return `${untold}${free}`;
}

function noRunText({ repository }: ServerProbe, models: readonly ListedModel[]): string {
  if (models.length > 0) {
    return '\nNo run can be proposed: names of the model have control characters.\n';
  }
  if (repository === undefined) {
    return '\nThe server does not list its models: name one with --model NAME.\n';
  }
  return '\nThe server has no model that is ready.\n';
}

function serverLines(scheme: string, probe: ServerProbe): string[] {
  const { server, address, service, roundTripNs, repository } = probe;
  const name = server.name === '' ? 'a server without a name' : server.name;
  const median = upperMedian(roundTripNs);
  const roundTrip = median === undefined ? '' : `, round trip ${(median / 1e6).toFixed(2)} ms`;
  return [
    `${scheme}://${address}  ${[name, server.version].join(' ').trim()}`,
    row(
      'state',
      `${toldText(probe.isLive, 'live')}, ${toldText(probe.isReady, 'ready')}${roundTrip}`,
    ),
    row('service', service),
    row('extensions', server.extensions.join(', ') || 'not reported'),
    ...(repository === undefined ? [] : [row('models', counted(repository.length, 'model'))]),
  ];
}

function toldText(is: boolean | undefined, what: string): string {
  if (is === undefined) return `${what}: not reported`;
  return is ? what : `not ${what}`;
}

function modelLines({ repository }: ServerProbe, probed: ProbedModel): string[] {
  const { facts, inputs, outputs } = probed;
  const entry = repository?.find(({ name }) => name === facts.name);
  const state = [entry?.state, entry?.reason].filter((text) => text !== undefined && text !== '');
  const versions = facts.versions.length === 0 ? [] : [`version ${facts.versions.join(', ')}`];
  return [
    [facts.name, ...state, ...versions, facts.platform].filter((text) => text !== '').join('  '),
    row('batch', batchText(probed)),
    row('responses', responsesText(probed)),
    ...(inputs.length === 0 ? [row('input', 'not reported: ModelMetadata has no inputs')] : []),
    ...inputs.map((tensor, i) => tensorRow('input', tensor, facts.inputs[i]?.shape)),
    ...(outputs.length === 0
      ? [row('output', 'not reported: a run takes those of an answer')]
      : []),
    ...outputs.map((tensor, i) => tensorRow('output', tensor, facts.outputs[i]?.shape)),
    row('bandwidth', bandwidthText(probed)),
  ];
}

function batchText({ facts, hasBatchAxis }: ProbedModel): string {
  const { batchSizeMax } = facts;
  if (batchSizeMax === 0) return 'no axis counts samples';
  if (facts.inputs.length === 0) return 'not reported';
  if (!hasBatchAxis) return 'one sample in a request: the first axis is not free';
  if (batchSizeMax !== undefined) return `${counted(batchSizeMax, 'sample')} in a request at most`;
  return 'the server reports no limit; the first axis is free, and taken to count samples';
}

function responsesText({ facts }: ProbedModel): string {
  const { hasStream, hasStatistics } = facts;
  return [
    responseCountText(facts),
    `ModelStreamInfer: ${hasStream === undefined ? 'not reported' : yesOrNo(hasStream)}`,
    `statistics: ${yesOrNo(hasStatistics)}`,
  ].join(', ');
}

function responseCountText({ isDecoupled, outputs }: ProbedModel['facts']): string {
  if (isDecoupled === true) return 'any number for a request (decoupled)';
  if (isDecoupled === undefined && outputs.some(isFinishReason)) {
    return 'one for a request, or several up to the one with a finish_reason';
  }
  return 'one for a request';
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** @param whole Shape as reported by the server. */
function tensorRow(
  kind: string,
  tensor: ProbedTensor,
  whole: readonly number[] | undefined,
): string {
  const { name, datatype, sampleBytes } = tensor;
  const size = sampleBytes === null ? '' : `, ${sampleBytes} B in a sample`;
  return row(kind, `${name}  ${tensorText({ datatype, shape: whole ?? tensor.shape })}${size}`);
}

function bandwidthText(probed: ProbedModel): string {
  const { inputBytes, outputBytes } = probed;
  if (probed.inputs.length === 0) return 'unknown: no inputs are reported';
  if (inputBytes === null) {
    const free = freeInputs(probed).map(({ name }) => name);
    return `unknown: axes of ${free.join(', ')} are free`;
  }
  const out = outputBytes === null ? 'an unknown rate' : formatRate(outputBytes * 8 * RATE);
  return `${formatRate(inputBytes * 8 * RATE)} to the server and ${out} back at ${RATE} samples/s`;
}

/** Models listed only by name. */
function restLines({ repository = [], models, failures }: ServerProbe): string[] {
  const told = new Set([...models, ...failures].map(({ name }) => name));
  const rest = repository.filter(({ name }) => !told.has(name));
  return [
    ...failures.map(({ name, why }) => `${name}  not described: ${why}`),
    ...rest.map(({ name, version, state, reason }) =>
      [name, version === '' ? '' : `version ${version}`, state, reason]
        .filter((text) => text !== '')
        .join('  '),
    ),
  ];
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(11)}${text}`;
}
