import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import { serverStatistics } from '../../observe/split/server-statistics.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { oipModelText } from '../judge/oip-notes.ts';

/** The SUT nodes of a run as its summary has them. */
export function summaryNodes({ nodes, nameCalls, oip: ofRun }: NetworkAudit): RunSummary['nodes'] {
  return nodes.map(({ address, description, streams, ours, oip }) => {
    const counts = {
      issuedSamples: ours.sampleCount,
      completedSamples: ours.completedCount,
      failedSamples: ours.failedCount,
    };
    if (oip === undefined || ofRun === null) {
      return {
        address,
        name: streams[0]?.nodeName ?? description?.name ?? '',
        model: streams[0]?.model ?? description?.model?.name ?? '',
        ...counts,
      };
    }
    const asked = nameCalls[0]?.nodes.find((node) => node.address === address);
    const { serverName, serverVersion, statistics } = oip;
    return {
      address,
      name: asked?.name ?? serverName,
      model: oipModelText(oip, ofRun),
      ...counts,
      server: {
        name: serverName,
        version: serverVersion,
        statistics: statistics === null ? null : serverStatistics(statistics),
      },
    };
  });
}
