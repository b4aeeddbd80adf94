import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { type ClientJob, CpuMeter, type Measured, percentile } from '../wire/measured.ts';
import { type CallerKind, connectCallers } from './callers.ts';
import { type MeasuredSpan, UnaryLoop } from './unary-loop.ts';

// Goal: one measurement of unary calls against the C++ peer, in a fresh process. Started by
// oip-bench.ts with the way, the number of connections and of threads, and the job; prints one line
// of JSON. With threads, each is this program too.

/** Job of one thread. */
interface ThreadJob {
  readonly kind: CallerKind;
  readonly connections: number;
  readonly job: ClientJob;
}

/** CPU time and clock at one edge of the measurement. */
interface Edge {
  readonly atMs: number;
  readonly clientCpuUs: number;
  readonly serverCpuUs: number;
}

if (isMainThread) await measure();
else await serveAsThread(workerData as ThreadJob);

async function measure(): Promise<void> {
  const [kind, connections, threads, jobText] = process.argv.slice(2) as [
    CallerKind,
    string,
    string,
    string,
  ];
  const job = JSON.parse(jobText) as ClientJob;
  const edges: Edge[] = [];
  const meter = new CpuMeter(job.serverPid);
  const onEdge = (): void => {
    edges.push({ atMs: performance.now(), ...meter.read() });
  };
  const own = { kind, connections: Number(connections), job };
  const lists =
    threads === '1' ? [await loopHere(own, onEdge)] : await loopInThreads(own, threads, onEdge);
  const [first, last] = [edges[0], edges.at(-1)];
  if (first === undefined || last === undefined) throw new Error('the measurement has no edges');
  const latenciesUs = Float64Array.from(lists.flatMap((list) => [...list])).sort();
  const measured: Measured = {
    queries: latenciesUs.length,
    seconds: (last.atMs - first.atMs) / 1e3,
    clientCpuUs: last.clientCpuUs - first.clientCpuUs,
    serverCpuUs: last.serverCpuUs - first.serverCpuUs,
    p50Us: percentile(latenciesUs, 0.5),
    p99Us: percentile(latenciesUs, 0.99),
  };
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
}

/** From now on. */
function spanOf({ warmUpS, seconds }: ClientJob): MeasuredSpan {
  const beginMs = Date.now() + warmUpS * 1e3;
  return { beginMs, endMs: beginMs + seconds * 1e3 };
}

async function loopHere(
  { kind, connections, job }: ThreadJob,
  onEdge: () => void,
): Promise<Float64Array> {
  const makeCaller = await connectCallers(kind, job.address, connections, job);
  return await new UnaryLoop(job, spanOf(job), onEdge).run(makeCaller, job.outstanding);
}

/** The calls spread over threads; the edges are this thread's, which does nothing else. */
async function loopInThreads(
  own: ThreadJob,
  threads: string,
  onEdge: () => void,
): Promise<Float64Array[]> {
  const job = { ...own.job, outstanding: own.job.outstanding / Number(threads) };
  const workers = Array.from(
    { length: Number(threads) },
    () => new Worker(compiledModule('test/bench/oip/client.js'), { workerData: { ...own, job } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const span = spanOf(job);
  const timers = [span.beginMs, span.endMs].map((atMs) => setTimeout(onEdge, atMs - Date.now()));
  const lists = await Promise.all(
    workers.map(async (worker) => {
      worker.postMessage(span);
      const [latenciesUs] = await once(worker, 'message');
      return latenciesUs as Float64Array;
    }),
  );
  // The threads may be through a moment before the timer is.
  clearTimeout(timers[1]);
  onEdge();
  return lists;
}

/** Says when it is connected, hears when the measurement is, and tells its latencies. */
async function serveAsThread({ kind, connections, job }: ThreadJob): Promise<void> {
  if (parentPort === null) throw new Error('no thread');
  const makeCaller = await connectCallers(kind, job.address, connections, job);
  const told = once(parentPort, 'message');
  parentPort.postMessage('connected');
  const [span] = (await told) as [MeasuredSpan];
  parentPort.postMessage(await new UnaryLoop(job, span).run(makeCaller, job.outstanding));
}
