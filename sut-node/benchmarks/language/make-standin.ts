import { writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import type { StandinWork } from './benchmark.ts';
import { standinDecoder } from './standin-decoder.ts';

// Entry of the worker thread that makes a stand-in once, writes its file and ends.
const { file, name, size } = workerData as StandinWork;
writeFileSync(file, encodeModel(standinDecoder(name, size)));
