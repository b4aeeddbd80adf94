/**
 * Pings that gRPC servers tolerate between two of their responses: they close the connection after
 * the third that comes sooner than {@link PATIENT_MS} after the previous one. Rule: gRPC,
 * doc/keepalive.md, "Server".
 */
const QUICK_PINGS_MAX = 2;

/** Interval of pings that every gRPC server tolerates. */
const PATIENT_MS: number = 5 * 60_000 + 1_000;

/** Times of keepalive. */
export interface KeepaliveSettings {
  /** Silence of the server after which it is pinged, ms. */
  readonly keepaliveTimeMs: number;
  /** Longest wait for the ping's acknowledgement, ms. */
  readonly keepaliveTimeoutMs: number;
}

/** The connection that is kept alive. */
export interface KeptAlive {
  /** Open calls; without any, the server is not pinged. */
  readonly callCount: number;
  ping(): void;
  onSilence(): void;
}

/**
 * Detects a server that died without a packet: pings it after a silence. Any byte is a sign of
 * life. A server that works long on a response is not pinged more often than gRPC allows.
 */
export class Keepalive {
  readonly #settings: KeepaliveSettings;
  readonly #owner: KeptAlive;
  #timer: NodeJS.Timeout | undefined;
  #lastReadMs = performance.now();
  #pingedMs: number | undefined;
  #quickPings = 0;

  constructor(settings: KeepaliveSettings, owner: KeptAlive) {
    this.#settings = settings;
    this.#owner = owner;
  }

  start(): void {
    this.#plan(this.#settings.keepaliveTimeMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Any bytes came. */
  onBytes(): void {
    this.#lastReadMs = performance.now();
  }

  /** The ping was acknowledged: start waiting for the next silence. */
  onPong(): void {
    this.#plan(this.#settings.keepaliveTimeMs);
  }

  /** A part of a response came: the server counts pings anew. */
  onAnswer(): void {
    this.#quickPings = 0;
  }

  #plan(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#look, Math.max(1, ms)).unref();
  }

  readonly #look = (): void => {
    const { keepaliveTimeMs, keepaliveTimeoutMs } = this.#settings;
    const nowMs = performance.now();
    const pingedMs = this.#pingedMs;
    if (pingedMs !== undefined && this.#lastReadMs < pingedMs) {
      const leftMs = pingedMs + keepaliveTimeoutMs - nowMs;
      if (leftMs <= 0) this.#owner.onSilence();
      else this.#plan(leftMs);
      return;
    }
    const leftMs = this.#lastReadMs + keepaliveTimeMs - nowMs;
    if (leftMs > 0 || this.#owner.callCount === 0 || !this.#mayPing(nowMs)) {
      this.#plan(leftMs > 0 ? leftMs : keepaliveTimeMs);
      return;
    }
    this.#pingedMs = nowMs;
    this.#quickPings += 1;
    this.#owner.ping();
    this.#plan(keepaliveTimeoutMs);
  };

  #mayPing(nowMs: number): boolean {
    return this.#quickPings < QUICK_PINGS_MAX || nowMs >= (this.#pingedMs ?? 0) + PATIENT_MS;
  }
}
