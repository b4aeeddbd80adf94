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
  text: 'a response came in pieces, although responses must be whole',
};

/** The channel whose responses are read. */
interface AnsweredChannel extends DispatchChannel {
  /** False while the socket lacks some bytes of an outstanding sample. Hot path. */
  isSent(slot: number): boolean;
}

/**
 * Reads a node's responses; reports completed and failed samples and tokens. An impossible response
 * is a claim of the node.
 */
export class ResponseReader {
  readonly #channel: AnsweredChannel;
  readonly #events: ChannelEvents;
  /** Open requested the tokens after the first one. */
  readonly #takesTokens: boolean;
  /** Null if Open did not request first tokens. */
  readonly #tokenStreams: TokenStreams | null;
  /** LoadGen no longer waits for responses: later ones are reported unchecked. */
  isOver = false;
  /** Set before the first part is sent. */
  decoder: Pick<ResponseDecoder, 'decode' | 'takesTime'> | undefined;

  /** @param tokenBytes Bytes of one token in a response; undefined: taken from the first token. */
  constructor(channel: AnsweredChannel, events: ChannelEvents, open: Open, tokenBytes?: number) {
    this.#channel = channel;
    this.#events = events;
    this.#takesTokens = open.features?.includes(TOKEN_STREAM_FEATURE) === true;
    const { outstanding } = channel;
    this.#tokenStreams = open.tokenLatencies ? new TokenStreams(outstanding, tokenBytes) : null;
  }

  /** Reports the responses of one message. Hot path. */
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
      const text = `sent tokens though Open did not request ${TOKEN_STREAM_FEATURE}`;
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
    // Decompression counts as latency, so the clock is read after it.
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

  /**
   * Fault of an impossible response; otherwise undefined. @param slot Slot of its sample; -1: not
   * outstanding.
   */
  #faultOf(slot: number, { offset, total }: WireCompleted): SampleFailure | undefined {
    if (total !== 0 || offset !== 0) return IN_PIECES;
    return this.#isEarly(slot) ? EARLY_RESPONSE : undefined;
  }

  /**
   * True if a response came before all of its sample was sent: the node cannot have read the
   * sample.
   */
  #isEarly(slot: number): boolean {
    if (this.#channel.isSent(slot)) return false;
    this.#events.onClaim(this.#channel, 'early-response', EARLY_CLAIM);
    return true;
  }

  /** @param wrong Fault of the tokens; undefined: none. */
  #claimTokens(wrong: string | undefined): void {
    if (wrong !== undefined) this.#events.onClaim(this.#channel, 'token-stream', wrong);
  }
}
