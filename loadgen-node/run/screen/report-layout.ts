import { StyledText } from '../../../shared/base/process/terminal.ts';
import { asPlainText } from '../../../shared/base/text.ts';
import { LABEL_WIDTH } from '../../present/text/result-text.ts';
import type { RunReport } from '../keep/run-report.ts';
import { printReport, type ScreenOptions } from './print-report.ts';

/** Below this width lines are not wrapped: each word would stand on its own line. */
const WIDTH_MIN = 40;
/** Indent of a reason after its number. */
const REASON_INDENT = 5;

const BOLD = '\u001b[1m';
const GREEN = '\u001b[32m';
const RED = '\u001b[31m';
const PLAIN = '\u001b[0m';

/** Output stream of the result. */
export interface ReportTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The result of a run for stdout. */
export function screenReport(report: RunReport, options: ScreenOptions): StyledText {
  return layoutReport(printReport(report, options), process.stdout, process.env);
}

/**
 * Lays out the result of a run for a terminal: long lines wrap after their labels, and the verdict,
 * the first word, is highlighted. For a file, a pipe or a dumb terminal the text is unchanged, one
 * fact per line.
 * @param environment Source of `TERM` and `NO_COLOR` (no-color.org).
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

/** Wraps a line at blanks; continuation lines align with its text. */
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
    // A path or a digest longer than a line is not cut, so that it can be copied.
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
