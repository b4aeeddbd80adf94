import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { checkClientSecurity } from '../../shared/security/client-security.ts';
import type { DispatchSettings } from './dispatch-settings.ts';

/**
 * Refuses settings that contradict each other or a rule.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkDispatchSettings(settings: DispatchSettings): void {
  const { nodes, weights, policy, onNodeLoss, division } = settings;
  const { connectionsPerNode, streamsPerNode, channelThreads, security } = settings;
  checkClientSecurity(security, nodes);
  if (settings.oip !== undefined) checkOipSettings(settings);
  if (onNodeLoss === 'continue' && division === 'network') {
    throw configInvalid(
      'with --on-node-loss continue the SUT would become another one during the run, which the Network ' +
        'division does not know; add --division open, or take fail or drain',
    );
  }
  if (weights.length > 0 && weights.length !== nodes.length) {
    throw configInvalid(
      `--weights has ${weights.length} numbers for ${nodes.length} SUT nodes: one for each`,
    );
  }
  if (weights.length > 0 && policy === 'round-robin') {
    throw configInvalid('--weights has no effect with --policy round-robin; take weighted');
  }
  if (policy === 'weighted' && weights.length === 0) {
    throw configInvalid('--policy weighted needs --weights, one number per SUT node');
  }
  if (channelThreads > streamsPerNode * nodes.length) {
    throw configInvalid(
      `--channel-threads ${channelThreads} is more than there are streams (${streamsPerNode * nodes.length}): ` +
        'some would do nothing; add --streams',
    );
  }
  // Calls of their own share connections without streams.
  const hasStreams = settings.oip === undefined || settings.oip.plan?.method === 'stream';
  if (hasStreams && connectionsPerNode > streamsPerNode) {
    throw configInvalid(
      `--connections ${connectionsPerNode} is more than --streams ${streamsPerNode}: some would carry nothing`,
    );
  }
}

/**
 * Of a server of the Open Inference Protocol: what has no meaning there is refused, not ignored. Streams and
 * connections are looked at once the method is known.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
function checkOipSettings({ oip, ...settings }: DispatchSettings): void {
  const { streamsPerNode, channelThreads, encoding } = settings;
  if (channelThreads > 0) {
    throw configInvalid(
      `--channel-threads ${channelThreads} is for longhaul's own protocol; requests of the Open Inference Protocol ` +
        "leave from LoadGen's thread, use --channel-threads 0",
    );
  }
  if (encoding.compression !== 'identity') {
    throw configInvalid(
      `samples cannot be compressed (${encoding.compression}) for the Open Inference Protocol, which has no field that ` +
        'says so; use --compression identity',
    );
  }
  if (oip?.plan !== undefined && oip.plan.method !== 'stream' && streamsPerNode > 1) {
    throw configInvalid(
      `--streams ${streamsPerNode} is for --oip-method stream; calls of their own share connections: use --connections`,
    );
  }
}
