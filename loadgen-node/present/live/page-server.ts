import { EventFeed, eventText } from './event-feed.ts';
import { type HttpServer, say, startHttpServer } from './http-server.ts';
import type { ListenAddress, ToLiveThread } from './live-messages.ts';
import { LiveState } from './live-state.ts';
import { pageHeaders } from './page-policy.ts';

/** Serves the live page and its events. */
export class PageServer {
  readonly #state: LiveState;
  readonly #feed: EventFeed;
  readonly #server: HttpServer;

  private constructor(server: HttpServer, state: LiveState, feed: EventFeed) {
    this.#server = server;
    this.#state = state;
    this.#feed = feed;
  }

  /**
   * Opens the port.
   * @param html The page.
   * @throws What `listen` throws.
   */
  static async start(at: ListenAddress, html: string): Promise<PageServer> {
    const state = new LiveState();
    const feed = new EventFeed();
    const headers = pageHeaders(html);
    const server = await startHttpServer(at, {
      '/': (_, response) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        say(response, 200, html, 'text/html; charset=utf-8');
      },
      '/events': (_, response) => {
        const first = eventText('state', state.whole);
        if (!feed.add(response, first)) say(response, 503, 'too many look on already\n');
      },
    });
    return new PageServer(server, state, feed);
  }

  get url(): string {
    return this.#server.url;
  }

  /** Takes what happened, and tells all who look on. */
  apply(message: ToLiveThread): void {
    this.#state.apply(message);
    this.#feed.send('change', withoutCounts(message));
  }

  /** Says good-bye to all pages, which keep what they have. */
  async close(): Promise<void> {
    this.#feed.send('bye', {});
    this.#feed.end();
    await this.#server.close();
  }
}

/** Distributions are for the metrics; the page gets their percentiles. */
function withoutCounts(message: ToLiveThread): ToLiveThread {
  return message.kind === 'snapshot' ? { kind: 'snapshot', snapshot: message.snapshot } : message;
}
