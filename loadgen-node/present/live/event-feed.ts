import type { ServerResponse } from 'node:http';

/** Pages that look on at once. */
const CLIENTS_MAX = 64;
/** What may wait for one that does not read. */
const WAITING_BYTES_MAX = 8 * 2 ** 20;
/** A line without meaning keeps the connection open through proxies. */
const HEARTBEAT_MS = 15_000;
/** How soon a page that lost its connection comes back. */
const RETRY_MS = 1_000;
/** Figures of a number that travels: more than a picture shows. */
const DIGITS = 6;

/** One event of a stream of server-sent events (WHATWG HTML, section 9.2). */
export function eventText(event: string, content: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(content, shortNumber)}\n\n`;
}

function shortNumber(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Number(value.toPrecision(DIGITS));
}

/** Sends events to all who listen; who does not read is dropped, and comes back by itself. */
export class EventFeed {
  readonly #clients = new Set<ServerResponse>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor() {
    this.#heartbeat = setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** A client comes; it gets `first` at once. @returns False where there are too many. */
  add(response: ServerResponse, first: string): boolean {
    if (this.#clients.size >= CLIENTS_MAX) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(`retry: ${RETRY_MS}\n\n${first}`);
    this.#clients.add(response);
    // Who is gone misses nothing: a page that comes back gets all.
    const forget = (): boolean => this.#clients.delete(response);
    response.once('close', forget);
    response.on('error', forget);
    return true;
  }

  /** Sends an event to all. */
  send(event: string, content: unknown): void {
    if (this.#clients.size > 0) this.#send(eventText(event, content));
  }

  /** Nothing more will come. */
  end(): void {
    clearInterval(this.#heartbeat);
    for (const client of this.#clients) client.end();
    this.#clients.clear();
  }

  #send(text: string): void {
    for (const client of this.#clients) {
      if (client.writableLength <= WAITING_BYTES_MAX) {
        client.write(text);
        continue;
      }
      this.#clients.delete(client);
      client.destroy();
    }
  }
}
