import {
  FLAG,
  FRAME_BYTES_DEFAULT,
  FRAME_TYPE,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_LIMIT,
} from '../../../shared/http2/frames.ts';
import { grpcMessage, type RawFrame } from '../oip-server/raw-http2-peer.ts';

const { data, headers, settings, windowUpdate } = FRAME_TYPE;

/** Stream of a call, by its number. */
export const streamIdOf = (call: number): number => 2 * call + 1;

/** The windows that the peer has given, and what came in them. */
export class WindowModel {
  /** It makes its own streams: they begin when they come. */
  readonly #isClient: boolean;
  readonly #calls = new Map<number, ModelCall>();
  /** Settings that are not acknowledged, in order: until then the old ones may be used. */
  readonly #unacknowledged: { readonly window: number; readonly frameBytes: number }[] = [];
  /** Of a client: its calls in the order in which they have something to send. */
  readonly #unopened: ModelCall[] = [];
  #window: number = WINDOW_BYTES_DEFAULT;
  #connectionWindow: number = WINDOW_BYTES_DEFAULT;
  #frameBytes: number = FRAME_BYTES_DEFAULT;
  /** What the peer has said last. */
  #sentWindow: number = WINDOW_BYTES_DEFAULT;
  readonly faults: string[] = [];

  constructor(isClient: boolean) {
    this.#isClient = isClient;
  }

  /** The call of that number, which sends something now. */
  sending(number: number): ModelCall {
    let call = this.#calls.get(number);
    if (call === undefined) {
      call = new ModelCall();
      this.#calls.set(number, call);
      if (this.#isClient) this.#unopened.push(call);
      else call.open(streamIdOf(number), this.#window);
    }
    return call;
  }

  callOf(number: number): ModelCall | undefined {
    return this.#calls.get(number);
  }

  /** Whether the peer may still say that: no window grows beyond 2^31 - 1. */
  allowsInitial(window: number): boolean {
    const pending = this.#unacknowledged.at(-1)?.window ?? this.#window;
    const more = Math.max(window - pending, window - this.#window);
    return [...this.#calls.values()].every((call) => call.window + more <= WINDOW_BYTES_LIMIT);
  }

  allowsUpdate(number: number | 'connection', bytes: number): boolean {
    if (number === 'connection') return this.#connectionWindow + bytes <= WINDOW_BYTES_LIMIT;
    const call = this.#calls.get(number);
    if (call === undefined || call.streamId === 0) return false;
    const pending = Math.max(0, this.#sentWindow - this.#window);
    return call.window + pending + bytes <= WINDOW_BYTES_LIMIT;
  }

  onSettings(window: number, frameBytes: number): void {
    this.#unacknowledged.push({ window, frameBytes });
    this.#sentWindow = window;
  }

  onUpdate(number: number | 'connection', bytes: number): void {
    if (number === 'connection') this.#connectionWindow += bytes;
    else (this.#calls.get(number) as ModelCall).window += bytes;
  }

  /** A frame of the end. */
  take(one: RawFrame): void {
    if (one.type === settings && (one.flags & FLAG.ack) !== 0) this.#acknowledge();
    else if (one.type === headers) this.#takeHead(one);
    else if (one.type === data) this.#takeData(one);
    else if (one.type !== settings && one.type !== windowUpdate) {
      this.faults.push(`a frame of type ${one.type}`);
    }
  }

  /** True when all is out that the windows allow. */
  get isSettled(): boolean {
    if (this.#unacknowledged.length > 0) return false;
    return [...this.#calls.values()].every((call) => {
      if (call.streamId === 0) return this.#connectionWindow <= 0;
      // The end of an answer is no DATA.
      const isHeld = this.#isClient && call.window < 0;
      if (call.unsentBytes === 0) return call.isEndSent === call.isEnding || isHeld;
      return call.window <= 0 || this.#connectionWindow <= 0;
    });
  }

  #acknowledge(): void {
    const next = this.#unacknowledged.shift();
    if (next === undefined) return;
    for (const call of this.#calls.values()) {
      if (call.streamId !== 0) call.window += next.window - this.#window;
    }
    this.#window = next.window;
    this.#frameBytes = next.frameBytes;
  }

  #takeHead({ streamId, flags }: RawFrame): void {
    const known = this.#ofStream(streamId);
    if (known === undefined) this.#unopened.shift()?.open(streamId, this.#window);
    if ((flags & FLAG.endStream) !== 0) this.#takeEnd(streamId);
  }

  #takeData({ streamId, flags, payload }: RawFrame): void {
    const call = this.#ofStream(streamId);
    const isEnd = (flags & FLAG.endStream) !== 0;
    const bytes = payload.length;
    if (call === undefined || call.isEndSent) {
      this.faults.push(`DATA of stream ${streamId}, which is not open`);
      return;
    }
    if (bytes === 0 && !isEnd) this.faults.push('DATA that is empty');
    if (call.window < 0) this.faults.push(`DATA at a window of ${call.window}`);
    if (bytes > this.#frameBytes) this.faults.push(`${bytes} bytes in a frame`);
    if (bytes > 0 && bytes > Math.min(call.window, this.#connectionWindow)) {
      this.faults.push(`${bytes} of ${call.window} and ${this.#connectionWindow} bytes`);
    }
    call.take(payload);
    this.#connectionWindow -= bytes;
    if (isEnd) this.#takeEnd(streamId);
  }

  #takeEnd(streamId: number): void {
    const call = this.#ofStream(streamId);
    if (call === undefined || call.isEndSent || !call.isEnding || call.unsentBytes > 0) {
      this.faults.push(`the end of stream ${streamId} is not due`);
      return;
    }
    call.isEndSent = true;
  }

  #ofStream(streamId: number): ModelCall | undefined {
    return [...this.#calls.values()].find((call) => call.streamId === streamId);
  }
}

/** One call, as the end was told to send it. */
class ModelCall {
  streamId = 0;
  window = 0;
  isEnding = false;
  isEndSent = false;
  #unsent: Buffer = Buffer.alloc(0);
  isWrong = false;

  open(streamId: number, window: number): void {
    this.streamId = streamId;
    this.window = window;
  }

  write(message: Buffer): void {
    this.#unsent = Buffer.concat([this.#unsent, grpcMessage(message)]);
  }

  get unsentBytes(): number {
    return this.#unsent.length;
  }

  take(payload: Buffer): void {
    this.isWrong ||= !this.#unsent.subarray(0, payload.length).equals(payload);
    this.#unsent = this.#unsent.subarray(payload.length);
    this.window -= payload.length;
  }
}
