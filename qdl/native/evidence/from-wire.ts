import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { NodeLimits__Output } from '../../../proto/gen/mlperf/network/v1/NodeLimits.ts';
import type { Opened__Output } from '../../../proto/gen/mlperf/network/v1/Opened.ts';
import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import type {
  NodeDescription,
  NodeLimitsEvidence,
  StreamEvidence,
} from '../../../shared/evidence/network-evidence.ts';
import { callPathOf } from '../../connect/call-path.ts';

/** What a node said of itself, as plain values. */
export function toDescription(
  description: DescribeResponse__Output,
  benchmark: string,
): NodeDescription {
  const model = description.models.find((one) => one.benchmark === benchmark);
  const { host } = description;
  return {
    name: description.name,
    nodeIdentity: description.nodeIdentity,
    software: description.software,
    softwareVersion: description.softwareVersion,
    components: description.components.map(({ name, version }) => ({ name, version })),
    protocolVersionMin: description.protocolVersionMin,
    protocolVersionMax: description.protocolVersionMax,
    features: [...description.features],
    model:
      model === undefined
        ? null
        : { name: model.model, sha256: model.sha256, isStandIn: model.isStandIn },
    settings: settingsOf(description.settings),
    host:
      host === null
        ? null
        : {
            hostname: host.hostname,
            bootId: host.bootId,
            operatingSystem: host.operatingSystem,
            cpuModel: host.cpuModel,
            cpuCount: host.cpuCount,
            memoryBytes: host.memoryBytes,
            addresses: [...host.addresses],
          },
    limits: toLimits(description.limits),
  };
}

/** An object has no own key `__proto__` once it was read from JSON: such a setting is left out at once. */
function settingsOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => key !== '__proto__'));
}

/** What a node chose for a stream, as plain values. @param own What this end knows of the stream's call. */
export function toStream(
  opened: Opened__Output,
  compressionCheck: StreamEvidence['compressionCheck'],
  own: OwnSide,
): StreamEvidence {
  return {
    protocolVersion: opened.protocolVersion,
    nodeName: opened.nodeName,
    nodeIdentity: opened.nodeIdentity,
    model: opened.model,
    features: [...opened.features],
    limits: toLimits(opened.limits),
    compressionCheck,
    path: callPathOf(own, opened.seen),
  };
}

function toLimits(limits: NodeLimits__Output | null): NodeLimitsEvidence | null {
  if (limits === null) return null;
  return {
    messageBytesMax: limits.messageBytesMax,
    partBytesMax: limits.partBytesMax,
    sampleBytesMax: limits.sampleBytesMax,
    querySamplesMax: limits.querySamplesMax,
    streamWindowBytes: limits.streamWindowBytes,
    connectionWindowBytes: limits.connectionWindowBytes,
  };
}
