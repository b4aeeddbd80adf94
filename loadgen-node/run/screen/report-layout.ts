import type { RunReport } from '../keep/run-report.ts';
import { LABEL_WIDTH, printReport } from './print-report.ts';

/** Narrower than this, lines are left as they are: wrapped words would stand one below the other. */
const WIDTH_MIN = 40;

/** Labels before which a new group begins: what was measured, the figures, where the time went, the verdict, what else to know. */
const GROUPS: ReadonlySet<string> = new Set(['Accuracy', 'Load', 'Time', 'Result', 'Logs']);

const BOLD = '\u001b[1m';
const GREEN = '\u001b[32m';
const RED = '\u001b[31m';
const PLAIN = '\u001b[0m';

/** Stream that the result goes to. */
export interface ReportTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The result of a run as it goes to stdout. */
export function screenReport(report: RunReport): string {
  return layoutReport(printReport(report), process.stdout, process.env);
}

/**
 * The result of a run as a terminal shows it best: long lines are wrapped behind their labels, groups are apart, the verdict
 * stands out. Elsewhere (a file, a pipe, a dumb terminal) the text is as it is, one fact a line.
 * @param environment Where `TERM` and `NO_COLOR` (no-color.org) are read.
 */
export function layoutReport(
  text: string,
  { isTTY, columns = 80 }: ReportTarget,
  environment: NodeJS.ProcessEnv,
): string {
  if (isTTY !== true || environment['TERM'] === 'dumb' || columns < WIDTH_MIN) return text;
  const isColored = (environment['NO_COLOR'] ?? '') === '';
  let group = '';
  const lines = text.split('\n').flatMap((line, i) => {
    const label = line.slice(0, LABEL_WIDTH).trim();
    // A group begins once: with accuracy and performance there are two kinds of figures, not two groups.
    const begins = i > 0 && GROUPS.has(label) && !(label === 'Load' && group === 'Accuracy');
    if (GROUPS.has(label)) group = label;
    const wrapped = wrap(line, columns - 1);
    const shown = isColored
      ? wrapped.map((one, part) => (part === 0 ? withColor(one, label) : one))
      : wrapped;
    return begins ? ['', ...shown] : shown;
  });
  return lines.join('\n');
}

/** Breaks a line at blanks; what follows stands below its text, items of a list behind their dash. */
function wrap(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  // A number stays with its unit.
  const glued = line.replace(/(\d) (?=(?:ns|µs|ms|s|%)(?:\W|$))/g, '$1\u00a0');
  return wrapGlued(glued, width).map((one) => one.replaceAll('\u00a0', ' '));
}

function wrapGlued(line: string, width: number): string[] {
  const isItem = line.slice(LABEL_WIDTH).startsWith('- ');
  const indent = ' '.repeat(LABEL_WIDTH + (isItem ? 2 : 0));
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    // A path or a digest that is longer than a line is not cut: it is to be copied.
    const cut = at > indent.length ? at : rest.indexOf(' ', width);
    if (cut < 0) break;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = indent + rest.slice(cut).trimStart();
  }
  return [...lines, rest];
}

function withColor(line: string, label: string): string {
  if (label === 'Result') {
    const [head, verdict] = [line.slice(0, LABEL_WIDTH), line.slice(LABEL_WIDTH)];
    const color = verdict.startsWith('VALID') ? GREEN : RED;
    return `${BOLD}${head}${color}${verdict}${PLAIN}`;
  }
  if (label === '') return line;
  return `${BOLD}${line.slice(0, LABEL_WIDTH)}${PLAIN}${line.slice(LABEL_WIDTH)}`;
}
