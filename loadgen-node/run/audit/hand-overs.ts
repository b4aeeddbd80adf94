import type { Protocol } from '../../../qdl/protocols/index.ts';
import { counted } from '../../../shared/base/text.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { CONNECTION_LIMITS, STREAM_LIMITS } from '../../../shared/security/connection-errors.ts';

/**
 * Connections and streams of a node that ended without losing a sample; sentences without their
 * subject, the node.
 */
export function handOverTexts({ handOvers }: NodeEvidence, { words }: Protocol): string[] {
  if (handOvers === undefined) return [];
  const { connectionCount, callCount, streamCount, connectionReason, streamReason } = handOvers;
  const texts: string[] = [];
  if (connectionCount > 0) {
    const again =
      callCount === 0 ? '' : ` ${counted(callCount, 'unprocessed request')} went out again.`;
    const what = `ended ${counted(connectionCount, 'connection')} in mid-run`;
    texts.push(
      `${what} ${tookOver(connectionCount, connectionReason)}${again} ${CONNECTION_LIMITS}`,
    );
  }
  if (streamCount > 0) {
    const what = `ended ${counted(streamCount, 'stream')} in mid-run with nothing outstanding`;
    const remedy = words.idleStreams === '' ? '' : `; ${words.idleStreams}`;
    texts.push(`${what} ${tookOver(streamCount, streamReason)} ${STREAM_LIMITS}${remedy}`);
  }
  return texts;
}

function tookOver(count: number, reason: string): string {
  const [why, others] = count === 1 ? [reason, 'another one'] : [`the last: ${reason}`, 'others'];
  return `(${why}), and ${others} took over: no sample was lost, and the time that it took is in the latencies.`;
}
