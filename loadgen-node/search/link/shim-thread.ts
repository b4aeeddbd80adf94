import { connect, createServer, type Server, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { DelayLine } from './delay-line.ts';
import { Lateness } from './lateness.ts';
import { LineTicker } from './line-ticker.ts';
import { LinkRate } from './link-rate.ts';
import { LossModel } from './loss-model.ts';
import { Relay } from './relay.ts';
import type { FromShim, ShimStart } from './shim-messages.ts';

// Entry of a shim's thread (link-shim.ts): relays between LoadGen and SUT nodes, a link of its own for each node.

const { targets, link, seed } = workerData as ShimStart;
const ticker = new LineTicker();
const lateness = new Lateness();
const losses: LossModel[] = [];
let connections = 0;

function tell(message: FromShim): void {
  parentPort?.postMessage(message);
}

function serve({ host, port }: ShimStart['targets'][number]): Server {
  // All connections of a node share its link.
  const up = new LinkRate(link.bitsPerSecond);
  const down = new LinkRate(link.bitsPerSecond);
  return createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    connections += 1;
    const far = connect({ host, port, noDelay: true, allowHalfOpen: true });
    relay(near, far, up);
    relay(far, near, down);
  });
}

function relay(from: Socket, to: Socket, rate: LinkRate): void {
  const random = new SeededRandom(seed, losses.length);
  const loss = new LossModel(link.lossShare, 2 * link.delayNs, random);
  losses.push(loss);
  new Relay({ from, to, line: new DelayLine(link.delayNs, rate, loss), rate, ticker, lateness });
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}

parentPort?.on('message', () => {
  const lostSegments = losses.reduce((sum, { lostCount }) => sum + lostCount, 0);
  tell({
    kind: 'counts',
    counts: {
      connections,
      lostSegments,
      lateP50Ns: lateness.percentileNs(0.5),
      lateP99Ns: lateness.percentileNs(0.99),
      lateMaxNs: lateness.maxNs,
    },
  });
});

try {
  tell({ kind: 'listening', ports: await Promise.all(targets.map((one) => listen(serve(one)))) });
} catch (error) {
  tell({ kind: 'failed', text: messageOf(error) });
}
