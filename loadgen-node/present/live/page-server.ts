import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { isLoopback } from '../../../shared/domain/node-address.ts';
import { PLOT } from '../charts/plot.ts';
import { type Html, html } from '../html/html.ts';
import { renderPage, SCRIPT_POLICY } from '../html/page.ts';
import { CHARTS } from './chart-specs.ts';
import { type ListenAddress, LiveState, type ToLiveThread } from './live-state.ts';

const SCRIPT = 'loadgen-node/present/live/page/main.js';

/**
 * Serves the live page and its events.
 * @throws Errors of `listen`; MlperfError `ERR_NOT_INSTALLED` if the page was not built.
 */
export async function startPageServer(at: ListenAddress) {
  const state = new LiveState();
  const feed = new EventFeed();
  const page = pageText();
  const server = await startHttpServer(at, {
    '/': (_, response) => {
      response.setHeader('content-security-policy', `${SCRIPT_POLICY}; frame-ancestors 'none'`);
      say(response, 200, page, 'text/html; charset=utf-8');
    },
    '/events': (_, response) => {
      const first = eventText('state', state.whole);
      if (!feed.add(response, first)) say(response, 503, 'too many look on already\n');
    },
    ...moduleRoutes(),
  });
  return {
    url: server.url,
    /** Applies a message and sends it to all pages. */
    apply(message: ToLiveThread): void {
      state.apply(message);
      // Distributions are for the metrics; pages get percentiles.
      const { kind } = message;
      feed.send('change', kind === 'snapshot' ? { kind, snapshot: message.snapshot } : message);
    },
    /** Sends a last event to all pages, which keep their content. */
    async close(): Promise<void> {
      feed.send('bye', {});
      feed.end();
      await server.close();
    },
  };
}

/**
 * A route for each module of the page: its script and the script's imports. No other file of
 * `dist/` is served.
 */
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

/** The page before its script fills it. */
function pageText(): string {
  const body = html`<div class="live"><div><h1>longhaul</h1>
<p class="kicker" id="run">no run yet</p></div>
<p id="state" role="status">connecting</p></div>
<div id="progress"></div>
<div id="so-far"></div>
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
  // Axes without titles: their space is cut off.
  return html`<figure><h3>${title}</h3>
<ul class="legend lines" aria-label="${`lines of ${title}`}"></ul>
<svg class="plot" viewBox="0 14 ${PLOT.width} ${PLOT.height - 30}" tabindex="0" role="group" aria-label="${label}"><g></g><path class="frame"/></svg>
<figcaption>${note}<p class="unseen" aria-live="polite"></p></figcaption></figure>
`;
}

/** Limit on connections of all clients to the port. */
const CONNECTIONS_MAX = 128;
const REQUEST_MS_MAX = 10_000;
const HEADER_BYTES_MAX = 8_192;
/** Time for the last data to arrive, in ms. */
const CLOSE_MS = 500;

/** Headers of every response. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Handles a GET or HEAD request of one path. */
type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * Opens a port for GET and HEAD. The URL has the bound address and ends with `/`; `close` resolves
 * when the port and all connections are closed.
 * @param routes By path.
 * @throws Errors of `listen`: port in use, address not on this machine.
 */
export async function startHttpServer(at: ListenAddress, routes: Readonly<Record<string, Route>>) {
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    headersTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: REQUEST_MS_MAX / 10,
  };
  const server = createServer(limits, (request, response) => {
    void answer(at.host, routes, request, response);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, at);
  const { address, port } = server.address() as AddressInfo; // It listens on TCP.
  const host = address.includes(':') ? `[${address}]` : address;
  return { url: `http://${host}:${port}/`, close: () => close(server) };
}

/** Never rejects. */
async function answer(
  listensAt: string,
  routes: Readonly<Record<string, Route>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(COMMON_HEADERS)) response.setHeader(name, value);
  if (!isOwnHost(listensAt, request.headers.host)) {
    say(response, 403, 'this port answers to the name localhost and to loopback addresses only\n');
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    say(response, 405, 'this port answers only GET and HEAD requests\n');
    return;
  }
  const [path = ''] = (request.url ?? '').split('?');
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) {
    say(response, 404, `not found; see ${Object.keys(routes).join(', ')}\n`);
    return;
  }
  try {
    await route(request, response);
  } catch (error) {
    if (!response.headersSent) say(response, 500, `${path} cannot be read: ${messageOf(error)}\n`);
    else response.destroy();
  }
}

/** Sends a text response; Node omits the body for HEAD. */
export function say(
  response: ServerResponse,
  code: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function listen(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/**
 * True if a request may be answered: a request to a loopback address must name it in its Host
 * header. This blocks DNS rebinding: a web page whose name points to 127.0.0.1 sends its own name.
 * @param listensAt The bound host.
 * @param host The request's Host header.
 */
export function isOwnHost(listensAt: string, host: string | undefined): boolean {
  if (!isLoopback(listensAt)) return true;
  if (host === undefined) return false;
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host)?.[1];
  return name !== undefined && isLoopback(name);
}

/** Most pages connected at the same time. */
const CLIENTS_MAX = 64;
/** Most unsent bytes for a page that does not read. */
const WAITING_BYTES_MAX = 8 * 2 ** 20;
/** Interval of comment lines that keep the connection open through proxies, in ms. */
const HEARTBEAT_MS = 15_000;
/** Delay before a page reconnects, in ms. */
const RETRY_MS = 1_000;
/** Significant digits of numbers sent to pages: more than a picture shows. */
const DIGITS = 6;

/** One event of a stream of server-sent events (WHATWG HTML, section 9.2). */
export function eventText(event: string, content: unknown): string {
  const text = JSON.stringify(content, (_key, value: unknown) =>
    typeof value !== 'number' || Number.isInteger(value)
      ? value
      : Number(value.toPrecision(DIGITS)),
  );
  return `event: ${event}\ndata: ${text}\n\n`;
}

/**
 * Sends events to all pages. A page that does not read is disconnected, and reconnects by itself.
 */
class EventFeed {
  readonly #clients = new Set<ServerResponse>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor() {
    this.#heartbeat = setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** Adds a client, which gets `first` at once. @returns False if there are too many clients. */
  add(response: ServerResponse, first: string): boolean {
    if (this.#clients.size >= CLIENTS_MAX) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(`retry: ${RETRY_MS}\n\n${first}`);
    this.#clients.add(response);
    // A page that reconnects gets the whole state.
    const forget = (): boolean => this.#clients.delete(response);
    response.once('close', forget);
    response.on('error', forget);
    return true;
  }

  /** Sends an event to all. */
  send(event: string, content: unknown): void {
    if (this.#clients.size > 0) this.#send(eventText(event, content));
  }

  /** No more messages will come. */
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
