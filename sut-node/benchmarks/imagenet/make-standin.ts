import { writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { STANDIN_PRECISIONS } from './standin-graph.ts';
import { makeStandin, type StandinWork } from './standin-models.ts';

// Entry of the worker thread that makes a stand-in once, writes its files and ends.
const { benchmark, width, files } = workerData as StandinWork;
const models = makeStandin(benchmark, width);
for (const precision of STANDIN_PRECISIONS) {
  writeFileSync(files[precision], encodeModel(models[precision]));
}
