import { readFileSync } from 'node:fs';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { PLOT } from '../charts/plot.ts';
import { type Html, html } from '../html/html.ts';
import { renderPage, SCRIPT_POLICY } from '../html/page.ts';
import { CHARTS } from './chart-specs.ts';
import { EventFeed, eventText } from './event-feed.ts';
import { type HttpServer, type Route, say, startHttpServer } from './http-server.ts';
import type { ListenAddress, ToLiveThread } from './live-messages.ts';
import { LiveState } from './live-state.ts';

const SCRIPT = 'loadgen-node/present/live/page/main.js';

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
   * @throws What `listen` throws; MlperfError `ERR_NOT_INSTALLED` where the page was not built.
   */
  static async start(at: ListenAddress): Promise<PageServer> {
    const state = new LiveState();
    const feed = new EventFeed();
    const page = pageText();
    const server = await startHttpServer(at, {
      '/': (_, response) => {
        const policy = `${SCRIPT_POLICY}; frame-ancestors 'none'`;
        response.setHeader('content-security-policy', policy);
        say(response, 200, page, 'text/html; charset=utf-8');
      },
      '/events': (_, response) => {
        const first = eventText('state', state.whole);
        if (!feed.add(response, first)) say(response, 503, 'too many look on already\n');
      },
      ...moduleRoutes(),
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

/** A route for each module of the page: its script, and all that this imports. No other file of `dist/` is served. */
function moduleRoutes(): Record<string, Route> {
  const script = compiledModule(SCRIPT);
  const root = script.href.slice(0, -SCRIPT.length);
  const routes: Record<string, Route> = {};
  const add = (module: URL): void => {
    const path = `/${module.href.slice(root.length)}`;
    if (path in routes) return;
    const text = readFileSync(module, 'utf8');
    routes[path] = (_, response) => say(response, 200, text, 'text/javascript; charset=utf-8');
    for (const [, target = ''] of text.matchAll(/ from '(\.[^']+)'/g)) add(new URL(target, module));
  };
  add(script);
  return routes;
}

/** The page before its script has filled it. */
function pageText(): string {
  const body = html`<div class="live"><div><h1>longhaul</h1>
<p class="kicker" id="run">no run yet</p></div>
<p id="state" role="status">connecting</p></div>
<div id="progress"></div>
<div id="verdict"></div>
<section id="now" aria-label="Now"></section>
<section aria-labelledby="charts"><h2 id="charts">Over time</h2>
<p class="quiet" id="resolution"></p>
<div class="charts">
${CHARTS.map(({ title, note }) => chartPlace(title, note))}</div></section>
<section aria-labelledby="of-nodes"><h2 id="of-nodes">Nodes</h2>
<div class="scroll tall" id="nodes" tabindex="0" role="group" aria-label="Nodes"></div></section>
<details><summary>The last seconds as a table</summary>
<div class="scroll tall" id="seconds" tabindex="0" role="group" aria-label="The last seconds"></div></details>
<div id="runs"></div>`;
  const footer =
    'Percentiles are estimates from a histogram, off by 1.6 % at most; the result of the run is exact. Latency is completed − scheduled. Not an MLPerf result.';
  return renderPage({ title: 'longhaul', body, footer, script: SCRIPT });
}

function chartPlace(title: string, note: string): Html {
  const label = `${title}: ${note}. Left and right arrows go through the points; Escape ends it.`;
  // Its axes have no titles: their room is cut off.
  return html`<figure><h3>${title}</h3>
<ul class="legend lines" aria-label="${`lines of ${title}`}"></ul>
<svg class="plot" viewBox="0 14 ${PLOT.width} ${PLOT.height - 30}" tabindex="0" role="group" aria-label="${label}"><g></g><path class="frame"/></svg>
<figcaption>${note}<p class="unseen" aria-live="polite"></p></figcaption></figure>
`;
}
