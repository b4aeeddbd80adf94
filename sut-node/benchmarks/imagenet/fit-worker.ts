import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { workAsFitThread } from '../fitting/fit-thread.ts';
import { fitStandin } from './fit-standin.ts';
import type { FitWork } from './standin-models.ts';
import { STANDIN_PRECISIONS } from './standins.ts';

/** Entry of the worker thread that fits a stand-in once, writes its files and ends. */
await workAsFitThread<FitWork>(async ({ fit, folder, fileNames }, onProgress) => {
  const files = await fitStandin(fit, onProgress);
  for (const precision of STANDIN_PRECISIONS) {
    await writeFile(join(folder, fileNames[precision]), files[precision]);
  }
});
