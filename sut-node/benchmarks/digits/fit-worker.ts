import { writeFile } from 'node:fs/promises';
import { workAsFitThread } from '../fitting/fit-thread.ts';
import { fitDigitsModel } from './fit-digits.ts';

/** Entry of the worker thread that fits the example model once, writes its file and ends. */
await workAsFitThread<{ readonly file: string }>(async ({ file }, onProgress) =>
  writeFile(file, await fitDigitsModel(onProgress)),
);
