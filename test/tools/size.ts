import { parseArgs } from 'node:util';
import { foldersText, measureSize, sizeText } from './size-table.ts';

// `npm run size [-- --json | -- PATH...]`: lines of code and comments, and words of documents, of
//   the project in the working folder, or of
// folders and files in it.

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' } },
  allowPositionals: true,
});
if (positionals.length > 0) {
  process.stdout.write(foldersText(process.cwd(), positionals));
} else {
  const table = measureSize(process.cwd());
  process.stdout.write(values.json ? `${JSON.stringify(table, null, 2)}\n` : sizeText(table));
}
