import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { messageOf } from '../../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../../shared/base/process/logger.ts';
import { hostAndPort } from '../../shared/base/text.ts';
import { listenOn } from '../server/connection/server-port.ts';

/** Bounds for whoever reaches the port: scrapers are few, quick and brief. */
const CONNECTIONS_MAX = 32;
const REQUEST_MS_MAX = 10_000;
const HEADER_BYTES_MAX = 8_192;

const PATH = '/metrics';

/** Serves metrics by HTTP. */
export interface MetricsServer {
  /** Where they are, with the address that was bound. */
  readonly url: string;
  /** Ends all connections and resolves when nothing listens any more. */
  close(): Promise<void>;
}

/**
 * Opens the port.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
export async function startMetricsServer(
  at: { readonly host: string; readonly port: number },
  registry: Registry,
  logger: Logger,
): Promise<MetricsServer> {
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    headersTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: REQUEST_MS_MAX / 10,
  };
  const server = createServer(
    limits,
    (request, response) => void answer(request, response, registry, logger),
  );
  server.maxConnections = CONNECTIONS_MAX;
  await listenOn(server, at, ' for metrics');
  const { address, port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    url: `http://${hostAndPort(address, port)}${PATH}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Never rejects. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  registry: Registry,
  logger: Logger,
): Promise<void> {
  const isHead = request.method === 'HEAD';
  const [path] = (request.url ?? '').split('?');
  if (path !== PATH) {
    say(response, 404, `there is nothing here; metrics are at ${PATH}\n`, isHead);
    return;
  }
  if (request.method !== 'GET' && !isHead) {
    response.setHeader('allow', 'GET, HEAD');
    say(response, 405, 'metrics can be read only\n', isHead);
    return;
  }
  try {
    const text = await registry.metrics();
    say(response, 200, text, isHead, registry.contentType);
  } catch (error) {
    logger.error({ err: error }, 'the metrics cannot be read');
    say(response, 500, `the metrics cannot be read: ${messageOf(error)}\n`, isHead);
  }
}

function say(
  response: ServerResponse,
  code: number,
  text: string,
  isHead: boolean,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
  });
  response.end(isHead ? undefined : text);
}
