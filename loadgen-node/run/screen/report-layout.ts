import { StyledText } from '../../../shared/base/process/terminal.ts';
import { asPlainText } from '../../../shared/base/text.ts';
import { LABEL_WIDTH } from '../../present/text/result-text.ts';
import type { RunReport } from '../keep/run-report.ts';
import { printReport, type ScreenOptions } from './print-report.ts';

/** Narrower than this, lines are left as they are: wrapped words would stand one below the other. */
const WIDTH_MIN = 40;
/** Indent of a reason behind its number. */
const REASON_INDENT = 5;

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
export function screenReport(report: RunReport, options: ScreenOptions): StyledText {
  return layoutReport(printReport(report, options), process.stdout, process.env);
}

/**
 * The result of a run as a terminal shows it best: long lines are wrapped behind their labels, and the verdict, which is its
 * first word, stands out. Elsewhere (a file, a pipe, a dumb terminal) the text is as it is, one fact a line.
 * @param environment Where `TERM` and `NO_COLOR` (no-color.org) are read.
 */
export function layoutReport(
  text: string,
  { isTTY, columns = 80 }: ReportTarget,
  environment: NodeJS.ProcessEnv,
): StyledText {
  const plain = asPlainText(text);
  const isLaidOut = isTTY === true && environment['TERM'] !== 'dumb' && columns >= WIDTH_MIN;
  if (!isLaidOut) return new StyledText(plain);
  const isColored = (environment['NO_COLOR'] ?? '') === '';
  const lines = plain.split('\n').flatMap((line, i) => {
    const [first = '', ...more] = wrap(line, columns - 1);
    if (!isColored) return [first, ...more];
    const rest = i === 0 ? more.map((one) => `${BOLD}${one}${PLAIN}`) : more;
    return [i === 0 ? withVerdict(first) : withLabel(first), ...rest];
  });
  return new StyledText(lines.join('\n'));
}

/** Breaks a line at blanks; what follows stands below its text. */
function wrap(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  // A number stays with its unit.
  const glued = line.replace(/(\d) (?=(?:ns|µs|ms|s|%)(?:\W|$))/g, '$1\u00a0');
  return wrapGlued(glued, width).map((one) => one.replaceAll('\u00a0', ' '));
}

function wrapGlued(line: string, width: number): string[] {
  const isReason = line.startsWith('  ') && !line.startsWith(' '.repeat(LABEL_WIDTH));
  const indent = ' '.repeat(isReason ? REASON_INDENT : LABEL_WIDTH);
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

function withVerdict(line: string): string {
  const color = line.startsWith('VALID') ? GREEN : RED;
  const [label, text] = [line.slice(0, LABEL_WIDTH), line.slice(LABEL_WIDTH)];
  return `${BOLD}${color}${label}${PLAIN}${BOLD}${text}${PLAIN}`;
}

function withLabel(line: string): string {
  const label = line.slice(0, LABEL_WIDTH);
  if (label.trim() === '' || line.startsWith(' ')) return line;
  return `${BOLD}${label}${PLAIN}${line.slice(LABEL_WIDTH)}`;
}
