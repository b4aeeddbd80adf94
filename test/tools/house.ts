import { parseArgs } from 'node:util';
import { reportHouse, summarizeHouse } from './house/report.ts';
import { HOUSE_RULES } from './house/rules.ts';

// `npm run check:house [-- --summary]`: refuses what breaks the order of folders and layers in the
// working folder.

const { values } = parseArgs({ options: { summary: { type: 'boolean' } } });
if (values.summary) {
  process.stdout.write(summarizeHouse(process.cwd(), HOUSE_RULES));
} else {
  const { text, offences } = reportHouse(process.cwd(), HOUSE_RULES);
  process.stdout.write(text);
  process.exitCode = offences.length === 0 ? 0 : 1;
}
