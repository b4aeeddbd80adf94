import { writeFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { workAsFitThread } from '../../fitting/fit-thread.ts';
import { fitDigitsModel } from './fit-digits.ts';

/** Entry of the worker thread that fits the example model once, writes its file and ends. */
const { file } = workerData as { file: string };

await workAsFitThread(async (onProgress) => writeFile(file, await fitDigitsModel(onProgress)));
