import { parseArgs } from 'node:util';
import { measureSize, sizeText } from './size-table.ts';

// `npm run size [-- --json]`: lines of code and comments, and words of documents, of the project in the working folder.

const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
const table = measureSize(process.cwd());
process.stdout.write(values.json ? `${JSON.stringify(table, null, 2)}\n` : sizeText(table));
