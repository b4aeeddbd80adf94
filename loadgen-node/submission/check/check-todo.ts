import { TODO_MARK } from '../tree/system-fields.ts';
import type { CheckContext } from './read/check-context.ts';
import { shortened } from './read/description-values.ts';
import { DOCUMENT_BYTES_MAX, documentLines } from './read/read-document.ts';

/** Texts for people; a .txt is one in documentation only, elsewhere it is of a tool. */
const TEXT = /(?:\.md|\.adoc|\/documentation\/.*\.txt)$/;

/** READMEs of compliance tests and the like, which longhaul wrote. */
const EVIDENCE = /^[^/]+\/[^/]+\/documentation\/evidence\//;

/** What submitters bring may have a TODO of others; the README.md of an implementation is their own. */
const SOURCE = /^[^/]+\/[^/]+\/(?:code|src)\/(?![^/]+\/[^/]+\/README\.md$)/;

/** Lines of the tree's texts that still say TODO. */
export function checkTodo(context: CheckContext): void {
  const { listing, findings } = context;
  const word = new RegExp(`\\b${TODO_MARK}\\b`);
  for (const path of listing.filePaths()) {
    if (!TEXT.test(path) || EVIDENCE.test(path) || SOURCE.test(path)) continue;
    if ((listing.bytesOf(path) ?? 0) > DOCUMENT_BYTES_MAX) continue;
    for (const [i, line] of documentLines(context, path).entries()) {
      if (!word.test(line)) continue;
      findings.add('todo-left', path, `The line says "${shortened(line.trim(), 160)}".`, i + 1);
    }
  }
}
