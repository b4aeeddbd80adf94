import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { sutBenchmark } from '../registry.ts';
import type { StandinWork } from './standin-models.ts';

// Entry of the worker thread that makes a stand-in once, writes its files and ends.
const { benchmark, word, cost, folder } = workerData as StandinWork;
const { standin } = await sutBenchmark(benchmark);
for (const [file, content] of Object.entries(standin?.make(word, cost) ?? {})) {
  writeFileSync(join(folder, file), content);
}
