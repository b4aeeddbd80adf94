import { isStandInName } from '../../../shared/benchmarks/standin/standin-sets.ts';
import type { OipEvidence, OipNodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import type { LoggedDetail } from '../../loadgen/engine/test-context.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';

/** What a result says of a run over the Open Inference Protocol, beside what the audit cannot prove. */
export function oipNotes({ oip, nodes }: NetworkAudit): string[] {
  if (oip === null) return [];
  return [
    ...nodes.flatMap(({ address, oip: server }) =>
      server === undefined ? [] : [`SUT node ${address} is ${oipServerText(server)}`],
    ),
    ...versionMarks(nodes),
    ...oip.notes,
  ];
}

/** What is said in place of the counts of both ends. */
export const NO_LEDGER_NOTE =
  'the Open Inference Protocol has no ledger: what arrived is known to the server alone, and the counts of this run are those of one end';

/**
 * What is said of the models: one that calls itself a stand-in is one, and of an MLPerf benchmark that no server of this
 * protocol tells which model it has behind a name.
 */
export function oipModelMarks({ run, nodes }: NetworkAudit): string[] {
  const { benchmark, isOfficialBenchmark } = run;
  return nodes.flatMap(({ address, oip: server }) => {
    if (server === undefined) return [];
    const serves = `SUT node ${address} serves ${server.modelName}`;
    if (isStandInName(server.modelName)) {
      return [`${serves}, a stand-in: neither its accuracy nor its speed is that of ${benchmark}`];
    }
    if (!isOfficialBenchmark) return [];
    const why =
      server.modelSha256 === undefined
        ? 'its server tells no digest'
        : 'its digest is what the server says, and no part of the protocol';
    return [`${serves}, which is not known to be ${benchmark}'s own model: ${why}`];
  });
}

/** The server of each node in the detail log. */
export function oipDetails({ oip, nodes }: NetworkAudit): LoggedDetail[] {
  if (oip === null) return [];
  return nodes.flatMap(({ address, oip: server }) => {
    if (server === undefined) return [];
    const value = {
      address,
      server: server.serverName,
      server_version: server.serverVersion,
      service: oip.service,
      method: oip.plan?.method ?? '',
      model: oipModelText(server, oip),
      platform: server.platform,
      ...(server.modelSha256 !== undefined && { model_sha256: server.modelSha256 }),
      requests: String(server.requestCount),
      trial_requests: String(server.trialCount),
    };
    return [{ key: 'longhaul_oip_server', value }];
  });
}

/** Model and version as they are asked for: `resnet50:2`; the version is left out where it is not known. */
export function oipModelText(
  { modelName, modelVersions }: OipNodeEvidence,
  oip: OipEvidence,
): string {
  const only = modelVersions.length === 1 ? (modelVersions[0] as string) : '';
  const version = oip.plan?.model.version || only;
  return version === '' ? modelName : `${modelName}:${version}`;
}

function oipServerText(server: OipNodeEvidence): string {
  const { serverName, serverVersion, modelName, modelVersions, platform } = server;
  const software = [serverName, serverVersion].filter((text) => text !== '').join(' ');
  const versions =
    modelVersions.length === 0
      ? ''
      : `, version${modelVersions.length > 1 ? 's' : ''} ${modelVersions.join(', ')}`;
  const kind = platform === '' ? '' : ` on ${platform}`;
  return `${software || 'a server without a name'}, model ${modelName}${versions}${kind}`;
}

function versionMarks(nodes: NetworkAudit['nodes']): string[] {
  const told = nodes.flatMap(({ address, oip }) =>
    oip === undefined || oip.serverVersion === '' ? [] : [{ address, version: oip.serverVersion }],
  );
  if (new Set(told.map(({ version }) => version)).size < 2) return [];
  const list = told.map(({ address, version }) => `${address} ${version}`).join(', ');
  return [`the servers are of different versions: ${list}: they may not be equally fast`];
}
