import { asOneLine } from '../../../shared/base/text/one-line.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';

/** What the SUT nodes said that cannot be, and the workers that they lost: it changes no figure, and readers must know it. */
export function nodeNotes({ nodes }: NetworkAudit): string[] {
  return nodes.flatMap(({ address, claims = [], theirs }) => {
    const texts = claims.map(({ text }) => text);
    const replaced = theirs?.replacedWorkerCount ?? 0;
    if (replaced > 0) texts.push(replacedText(replaced));
    return texts.map((text) => asOneLine(`SUT node ${address} ${text}`));
  });
}

/** A sentence without its subject, the node. @param count 1 or more. */
function replacedText(count: number): string {
  return count === 1
    ? 'lost a worker during the run and replaced it'
    : `lost ${count} workers during the run and replaced them`;
}
