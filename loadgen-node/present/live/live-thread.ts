import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { describeSystemError } from '../../../shared/base/errors/mlperf-error.ts';
import { asPlainText } from '../../../shared/base/text.ts';
import type {
  FromLiveThread,
  ListenAddress,
  LiveViewSettings,
  ToLiveThread,
} from './live-state.ts';
import { say, startHttpServer, startPageServer } from './page-server.ts';

// Thread of the live view. It serves page and metrics, so that no client disturbs the issuing
// thread.

const port = parentPort;
assert(port !== null, 'this file is the entry of a worker thread');
const start = workerData as LiveViewSettings;
/** Consumers of the messages of runs. */
const viewers: { apply(message: ToLiveThread): void; close(): Promise<void> }[] = [];

port.on('message', (message: ToLiveThread) => {
  if (message.kind === 'close') void close();
  else for (const viewer of viewers) viewer.apply(message);
});

try {
  const dashboardUrl = start.dashboard && (await opened(start.dashboard, '--dashboard', openPage));
  const metricsUrl =
    start.metrics && (await opened(start.metrics, '--metrics-listen', openMetrics));
  report({ kind: 'listening', dashboardUrl, metricsUrl });
} catch (error) {
  report({ kind: 'failed', text: describeSystemError(error) });
  await close();
}

async function opened(
  at: ListenAddress,
  flag: string,
  open: (at: ListenAddress) => Promise<string>,
): Promise<string> {
  try {
    return await open(at);
  } catch (error) {
    const text = `cannot listen on ${at.host}:${at.port} for ${flag}: ${describeSystemError(error)}`;
    throw new Error(text, { cause: error });
  }
}

async function openPage(at: ListenAddress): Promise<string> {
  const server = await startPageServer(at);
  viewers.push(server);
  return server.url;
}

async function openMetrics(at: ListenAddress): Promise<string> {
  // The package is loaded only if metrics are requested.
  const { LiveMetrics } = await import('./live-metrics.ts');
  const metrics = new LiveMetrics();
  const { registry } = metrics;
  const server = await startHttpServer(at, {
    '/metrics': async (_, response) =>
      say(response, 200, asPlainText(await registry.metrics()), registry.contentType),
  });
  viewers.push({ apply: (message) => metrics.apply(message), close: () => server.close() });
  return `${server.url}metrics`;
}

/** Shuts the thread down cleanly. */
async function close(): Promise<void> {
  await Promise.all(viewers.map((viewer) => viewer.close()));
  port?.close();
}

function report(message: FromLiveThread): void {
  port?.postMessage(message);
}
