import type { Open } from '../../../../proto/gen/mlperf/network/v1/Open.ts';
import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure } from '../../../../shared/domain/system-under-test.ts';
import {
  failureText,
  failureWord,
  type WireCompleted,
  type WireResponses,
  type WireTokens,
} from '../../../../shared/wire/responses-codec.ts';
import { TOKEN_STREAM_FEATURE } from '../../../../shared/wire/sut-contract.ts';
import {
  type ChannelEvents,
  type DispatchChannel,
  EARLY_CLAIM,
  EARLY_RESPONSE,
} from '../../../dispatch/dispatch-channel.ts';
import { NOT_OUTSTANDING } from '../../../dispatch/outstanding-table.ts';
import type { ResponseDecoder } from './response-decoder.ts';
import { TokenStreams } from './token-streams.ts';

const IN_PIECES: SampleFailure = {
  code: 'bad-response',
  text: 'a response came in pieces, which was not agreed on',
};

/** The channel whose responses are read. */
interface AnsweredChannel extends DispatchChannel {
  /** False while of an outstanding sample some bytes have not gone to the socket. Hot path. */
  isSent(slot: number): boolean;
}

/**
 * Reads the responses of a node and reports them as samples that completed or failed, and tokens. What cannot be true is a claim
 * of the node.
 */
export class ResponseReader {
  readonly #channel: AnsweredChannel;
  readonly #events: ChannelEvents;
  /** Open asked for tokens behind the first. */
  readonly #takesTokens: boolean;
  /** Null: Open did not ask for first tokens. */
  readonly #tokenStreams: TokenStreams | null;
  /** LoadGen waits for no response: what comes is reported as it is. */
  isOver = false;
  /** Set before the first part is sent. */
  decoder: Pick<ResponseDecoder, 'decode' | 'takesTime'> | undefined;

  /** @param tokenBytes Of a token in a response; undefined: not known but by the first one. */
  constructor(channel: AnsweredChannel, events: ChannelEvents, open: Open, tokenBytes?: number) {
    this.#channel = channel;
    this.#events = events;
    this.#takesTokens = open.features?.includes(TOKEN_STREAM_FEATURE) === true;
    const { outstanding } = channel;
    this.#tokenStreams = open.tokenLatencies ? new TokenStreams(outstanding, tokenBytes) : null;
  }

  /** Reports responses that are there now. Hot path. */
  read({ firstTokens, tokens, completed, failed }: WireResponses): void {
    const channel = this.#channel;
    const atNs = this.#events.nowNs();
    if (this.#tokenStreams === null && firstTokens.length > 0) {
      const text = 'sent a first token though Open.token_latencies was false';
      this.#events.onClaim(channel, 'first-token', text, firstTokens.length);
    }
    for (const told of firstTokens) this.#readFirstToken(told, atNs);
    if (this.#takesTokens) for (const told of tokens) this.#readTokens(told, atNs);
    else if (tokens.length > 0) {
      const text = `sent tokens though Open did not ask for ${TOKEN_STREAM_FEATURE}`;
      this.#events.onClaim(channel, 'unasked-tokens', text, tokens.length);
    }
    for (const sample of completed) this.#readCompleted(sample, atNs);
    for (const { id, code, text } of failed) {
      const failure = { code: failureWord(code), text: failureText(code, text) };
      this.#events.onFailed(channel, id, failure);
    }
    this.#events.onRoom();
  }

  #readFirstToken({ id, payload }: WireTokens, atNs: number): void {
    if (this.#isEarly(this.#channel.outstanding.slotOf(id))) return;
    this.#events.onFirstToken(this.#channel, id, payload, atNs);
    if (!this.isOver) this.#claimTokens(this.#tokenStreams?.begin(id, payload));
  }

  #readTokens({ id, payload }: WireTokens, atNs: number): void {
    const { outstanding } = this.#channel;
    if (this.#isEarly(outstanding.slotOf(id)) || this.#tokenStreams === null) return;
    const isRead = !this.isOver && outstanding.find(id) !== NOT_OUTSTANDING;
    const count = isRead ? this.#tokenStreams.tell(id, payload) : 0;
    if (typeof count === 'string') this.#claimTokens(count);
    else this.#events.onTokens(this.#channel, id, count, atNs);
  }

  #readCompleted(sample: WireCompleted, atNs: number): void {
    const { id, payload, encoding, tokenCount, durations } = sample;
    const channel = this.#channel;
    const events = this.#events;
    if (this.isOver) {
      events.onCompleted(channel, id, sample, atNs);
      return;
    }
    const slot = channel.outstanding.slotOf(id);
    const { decoder } = this;
    let fault = this.#faultOf(slot, sample);
    let response: BorrowedBytes = payload;
    if (fault === undefined && decoder !== undefined) {
      try {
        response = decoder.decode(encoding, payload);
      } catch (error) {
        fault = { code: 'bad-response', text: messageOf(error) };
      }
    }
    if (fault !== undefined) {
      events.onCompleted(channel, id, { ...sample, fault }, atNs);
      return;
    }
    // Decompression counts: where there is any, the clock is read behind it.
    const readyNs = decoder?.takesTime === true ? events.nowNs() : atNs;
    this.#claimTokens(this.#tokenStreams?.differenceFrom(slot, sample, response));
    if (decoder?.takesTime !== true) {
      events.onCompleted(channel, id, sample, readyNs);
      return;
    }
    const times = { receivedBytes: payload.length, decodeNs: readyNs - atNs };
    const decoded = { payload: response, tokenCount, durations, ...times };
    events.onCompleted(channel, id, decoded, readyNs);
  }

  /** Why a response cannot be one; undefined for all others. @param slot Of its sample; -1: none is outstanding. */
  #faultOf(slot: number, { offset, total }: WireCompleted): SampleFailure | undefined {
    if (total !== 0 || offset !== 0) return IN_PIECES;
    return this.#isEarly(slot) ? EARLY_RESPONSE : undefined;
  }

  /** Who tells something of a sample before all of it was sent cannot have read it. */
  #isEarly(slot: number): boolean {
    if (this.#channel.isSent(slot)) return false;
    this.#events.onClaim(this.#channel, 'early-response', EARLY_CLAIM);
    return true;
  }

  /** @param wrong What is wrong with tokens; undefined: nothing. */
  #claimTokens(wrong: string | undefined): void {
    if (wrong !== undefined) this.#events.onClaim(this.#channel, 'token-stream', wrong);
  }
}
