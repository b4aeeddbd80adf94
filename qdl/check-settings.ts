import { MlperfError } from '../shared/errors/mlperf-error.ts';
import { checkClientSecurity } from '../shared/security/client-security.ts';
import type { DispatchSettings } from './dispatch-settings.ts';

/**
 * Refuses settings that contradict each other or a rule.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkDispatchSettings(settings: DispatchSettings): void {
  const { nodes, weights, policy, onNodeLoss, division } = settings;
  const { connectionsPerNode, streamsPerNode, channelThreads, security } = settings;
  checkClientSecurity(security, nodes);
  if (onNodeLoss === 'continue' && division === 'network') {
    throw invalid(
      'with --on-node-loss continue the SUT would become another one during the run, which the Network ' +
        'division does not know; add --division open, or take fail or drain',
    );
  }
  if (weights.length > 0 && weights.length !== nodes.length) {
    throw invalid(
      `--weights has ${weights.length} numbers for ${nodes.length} SUT nodes: one for each`,
    );
  }
  if (weights.length > 0 && policy === 'round-robin') {
    throw invalid('--weights has no effect with --policy round-robin; take weighted');
  }
  if (policy === 'weighted' && weights.length === 0) {
    throw invalid('--policy weighted needs --weights, one number per SUT node');
  }
  if (channelThreads > streamsPerNode * nodes.length) {
    throw invalid(
      `--channel-threads ${channelThreads} is more than there are streams (${streamsPerNode * nodes.length}): ` +
        'some would do nothing; add --streams',
    );
  }
  if (connectionsPerNode > streamsPerNode) {
    throw invalid(
      `--connections ${connectionsPerNode} is more than --streams ${streamsPerNode}: some would carry nothing`,
    );
  }
}

function invalid(message: string): MlperfError {
  return new MlperfError('ERR_CONFIG_INVALID', message);
}
