import { writeFileSync } from 'node:fs';
import {
  checkDispatchSettings,
  type DispatchSettings,
  defaultDispatchSettings,
} from '../../../qdl/index.ts';
import {
  addressSchemes,
  knownProtocols,
  type Protocol,
  protocolOf,
  SERVICE_OPTIONS,
  type ServerProbe,
  withoutScheme,
} from '../../../qdl/protocols/index.ts';
import {
  configInvalid,
  MlperfError,
  withReason,
} from '../../../shared/base/errors/mlperf-error.ts';
import { wrongAddress } from '../../../shared/config/address-scheme.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { positiveDuration, type SettingValues, text } from '../../../shared/config/setting.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import { modelRef, type OipModelRef } from '../../../shared/wire/oip/request-plan.ts';
import { ownCommand } from '../../run/host/own-command.ts';
import { SECURITY_OPTIONS, toClientSecurity } from '../../run/plan/connection-options.ts';
import { nodesOfRun } from '../../run/plan/model-options.ts';
import { type ListedModel, nextText, probeText } from './probe-text.ts';
import { probedModel, readyMadeRun, takesMadeUpData } from './probed-model.ts';

/** Settings of `longhaul probe`. */
export const PROBE_SETTINGS = {
  model: text('name[:version]', 'this model only (default: all that the server lists)'),
  output: text('file', 'write the configuration of a run against the model'),
  timeout: positiveDuration('longest wait for one answer', { fallback: '5s' }),
  ...SERVICE_OPTIONS,
  ...SECURITY_OPTIONS,
};

/** Settings that a run against the server also needs. */
const CONNECTION = { ...SERVICE_OPTIONS, ...SECURITY_OPTIONS };

type ProbeValues = SettingValues<typeof PROBE_SETTINGS>;

/**
 * Lists the models of a server, with a run for each. No inference, no load.
 * @param said The server's address, with its scheme.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_OUTPUT`; `ERR_SUT_REFUSED` if the named model
 *   does not exist; if no server answers
 */
export async function probeServer(said: string, values: ProbeValues): Promise<VerbResult> {
  const protocol = protocolOfServer(said);
  const address = addressOf(said, protocol);
  const { scheme } = protocol;
  const settings = dispatchSettings(`${scheme}://${address}`, values);
  const model = modelRef(values.model);
  const probe = await protocol.probe(address, settings);
  requireModel(probe, model);
  const models = listedModels(`${scheme}://`, probe, model, values);
  if (values.output !== undefined) writeConfig(values.output, models);
  return {
    text: `${probeText(scheme, probe, models)}${nextText(probe, models, values.output)}`,
    json: probeDocument(probe, models),
  };
}

/** A protocol whose servers can be probed. */
type Probed = Protocol & Required<Pick<Protocol, 'probe'>> & { readonly scheme: string };

/**
 * The protocol of the address; without a scheme the first that supports probing.
 * @throws MlperfError `ERR_CONFIG_INVALID` if servers of its scheme cannot be probed
 */
function protocolOfServer(said: string): Probed {
  const own = protocolOf(said);
  const found = (own.scheme === null ? knownProtocols() : [own]).find(
    (one): one is Probed => one.probe !== undefined,
  );
  if (found !== undefined) return found;
  throw configInvalid(
    `"${said}" speaks ${own.title}, and longhaul cannot list its models; ` +
      `"longhaul run --sut ${said}" measures it`,
  );
}

/** @throws MlperfError `ERR_CONFIG_INVALID` */
function addressOf(said: string, { scheme }: Probed): string {
  const address = withoutScheme(said);
  if ((splitAddress(address)?.port ?? 0) > 0) return address;
  const withScheme = said.includes('://') ? said : `${scheme}://${said}`;
  throw configInvalid(`"${said}" ${wrongAddress(withScheme, addressSchemes())}`);
}

/** @throws MlperfError `ERR_CONFIG_INVALID` */
function dispatchSettings(address: string, values: ProbeValues): DispatchSettings {
  const { nodes, protocol } = nodesOfRun([address], values);
  const settings: DispatchSettings = {
    ...defaultDispatchSettings(nodes),
    protocol,
    callTimeoutMs: values.timeout / 1e6,
    security: toClientSecurity(values),
  };
  checkDispatchSettings(settings);
  return settings;
}

/** @throws MlperfError `ERR_SUT_REFUSED` if the named model does not exist. */
function requireModel({ failures, repository }: ServerProbe, model: OipModelRef): void {
  const [failure] = failures;
  if (model.name === '' || failure === undefined) return;
  const names = [...new Set(repository?.map(({ name }) => name))].slice(0, NAMED_MAX);
  const has = names.length === 0 ? '' : `; the server has ${names.join(', ')}`;
  throw new MlperfError('ERR_SUT_REFUSED', `${failure.why}${has}`);
}

/** Most models listed in a message. */
const NAMED_MAX = 20;

function listedModels(
  scheme: string,
  { address, models }: ServerProbe,
  { version }: OipModelRef,
  values: ProbeValues,
): readonly ListedModel[] {
  const keys = Object.keys(CONNECTION) as (keyof typeof CONNECTION)[]; // Its own.
  const connection = Object.fromEntries(keys.map((key) => [key, values[key]]));
  const target = { address: `${scheme}${address}`, connection };
  return models.map((facts) => {
    const probed = probedModel(facts, version);
    const run = takesMadeUpData(probed) ? readyMadeRun(ownCommand(), target, probed) : undefined;
    return { probed, run };
  });
}

/** @throws MlperfError `ERR_CONFIG_INVALID` if several models are possible, `ERR_OUTPUT` */
function writeConfig(file: string, models: readonly ListedModel[]): void {
  const [first] = models;
  if (first?.run === undefined || models.length > 1) {
    const names = models.map(({ probed }) => probed.model.name).slice(0, NAMED_MAX);
    const which =
      names.length > 1
        ? `is for one model: add --model NAME (${names.join(', ')})`
        : 'needs --model NAME of a model whose inputs the server reports';
    throw configInvalid(`--output ${file} ${which}`);
  }
  const { config } = first.run;
  withReason(file, () => writeFileSync(file, config));
}

function probeDocument(probe: ServerProbe, models: readonly ListedModel[]): object {
  const { isLive = null, isReady = null, repository = null, ...others } = probe;
  return {
    ...others,
    isLive,
    isReady,
    repository,
    models: models.map(({ probed, run = null }) => ({
      // A value that the server does not report is null in JSON, not absent.
      ...Object.fromEntries(
        Object.entries(probed.facts).map(([key, value]) => [key, value ?? null]),
      ),
      hasBatchAxis: probed.hasBatchAxis,
      sample: {
        inputs: probed.inputs,
        outputs: probed.outputs,
        inputBytes: probed.inputBytes,
        outputBytes: probed.outputBytes,
      },
      run,
    })),
  };
}
