/**
 * Kinds of claims of a SUT node that cannot be true.
 *
 * | kind | what |
 * |---|---|
 * | `late-response` | a response after Close, when every sample had its response |
 * | `early-response` | a response, or a token of one, before the last byte of its sample was sent |
 * | `excess-times` | `Completed.durations` longer than the time that passed at the LoadGen node |
 * | `unasked-feature` | a name in `Opened.features` that is not in `Open.features` |
 * | `first-token` | a `FirstToken` though `Open.token_latencies` is false |
 * | `unasked-tokens` | `Tokens` on a stream without the feature `token-stream` |
 * | `token-stream` | first token, `Tokens` or count that are not those of the response; `Tokens` before the first token or of no whole token |
 * | `token-count` | a negative `Completed.token_count` |
 * | `empty-message` | a `SutMessage` without any field |
 * | `credit-back` | a `Credit` below the one before |
 * | `stream-end` | after Close a stream that does not end, or ends with an error |
 * | `usage` | a `NodeUsage` with more CPU time, or memory, than the machine of its Describe has |
 * | `call-status` | an answer with more than one `grpc-status`, of which the first counts |
 */
export const CLAIM_KINDS = [
  'late-response',
  'early-response',
  'excess-times',
  'unasked-feature',
  'first-token',
  'unasked-tokens',
  'token-stream',
  'token-count',
  'empty-message',
  'credit-back',
  'stream-end',
  'usage',
  'call-status',
] as const;

export type ClaimKind = (typeof CLAIM_KINDS)[number];

/** All claims of one kind that a node made in a run. */
export interface NodeClaim {
  readonly kind: ClaimKind;
  readonly count: number;
  /**
   * A sentence without its subject, the node, and without a full stop: of the first claim, or of
   * the worst.
   */
  readonly text: string;
}

/** Kinds that contradict the result itself. What the others say goes into no figure. */
const CONTRADICTIONS: readonly ClaimKind[] = ['late-response', 'early-response', 'token-stream'];

/** True for a claim that makes a run INVALID. */
export function contradictsResult({ kind }: NodeClaim): boolean {
  return CONTRADICTIONS.includes(kind);
}

/** Collects the claims of one node. */
export class ClaimBook {
  readonly #claims = new Map<ClaimKind, { count: number; readonly text: string }>();

  /** @param text As {@link NodeClaim.text}; kept of the first one. */
  add(kind: ClaimKind, text: string, count = 1): void {
    const known = this.#claims.get(kind);
    if (known === undefined) this.#claims.set(kind, { count, text });
    else known.count += count;
  }

  /** In the order of {@link CLAIM_KINDS}. */
  toClaims(): readonly NodeClaim[] {
    return CLAIM_KINDS.flatMap((kind) => {
      const claim = this.#claims.get(kind);
      return claim === undefined ? [] : [{ kind, ...claim }];
    });
  }
}
