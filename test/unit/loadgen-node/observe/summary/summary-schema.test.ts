import { expect, it } from 'vitest';
import { summaryJsonSchema } from '../../../../../loadgen-node/observe/summary/run-summary.ts';

// Goal: the schema that programs read summaries by is the one that longhaul writes them by. Method:
// the published file beside what the code makes; written anew with
// `npx vitest run -u --project unit summary-schema`.
it('docs/longhaul-summary.schema.json is the form of the summary', async () => {
  const text = `${JSON.stringify(summaryJsonSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../../../../docs/longhaul-summary.schema.json');
});
