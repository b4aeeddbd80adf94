import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { isLoopback } from '../../../shared/security/loopback.ts';
import type { ListenAddress } from './live-messages.ts';

/** Bounds for whoever reaches the port. */
const CONNECTIONS_MAX = 128;
const REQUEST_MS_MAX = 10_000;
const HEADER_BYTES_MAX = 8_192;
/** Time for what was sent last to arrive. */
const CLOSE_MS = 500;

/** Headers of everything that is served. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Answers a GET or HEAD of a path. */
export type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A port that answers GET and HEAD. */
export interface HttpServer {
  /** With the address that was bound, ending with `/`. */
  readonly url: string;
  /** Resolves when nothing listens any more and all connections are gone. */
  close(): Promise<void>;
}

/**
 * Opens a port.
 * @param routes By path.
 * @throws What `listen` throws: the port is in use, the address is not this machine's.
 */
export async function startHttpServer(
  at: ListenAddress,
  routes: Readonly<Record<string, Route>>,
): Promise<HttpServer> {
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
    say(response, 405, 'this can be read only\n');
    return;
  }
  const [path = ''] = (request.url ?? '').split('?');
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) {
    say(response, 404, `there is nothing here; look at ${Object.keys(routes).join(', ')}\n`);
    return;
  }
  try {
    await route(request, response);
  } catch (error) {
    if (!response.headersSent) say(response, 500, `this cannot be read: ${messageOf(error)}\n`);
    else response.destroy();
  }
}

/** Ends a response with a text; Node leaves the text out where only the head was asked for. */
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
 * Whether a request may be answered: one to a loopback address must name it so. A page of the Web whose name was pointed
 * at 127.0.0.1 ("DNS rebinding") sends that name, and is refused.
 * @param listensAt Host that was bound.
 * @param host Header of the request.
 */
export function isOwnHost(listensAt: string, host: string | undefined): boolean {
  if (!isLoopback(listensAt)) return true;
  if (host === undefined) return false;
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host)?.[1];
  return name !== undefined && isLoopback(name);
}
