import { printText, type TerminalStream } from '../../../shared/base/process/terminal.ts';
import { fitLine } from '../../present/text/figure-text.ts';
import type { RunHost } from '../host/host.ts';

/** Prints a line. @param isRow True for a table row, which is cut to the width of a terminal. */
export type PrintLine = (line: string, isRow?: boolean) => void;

/** Prints lines that stay above the status line. */
export function linePrinter(host: Pick<RunHost, 'progress'>, stream: TerminalStream): PrintLine {
  return (line, isRow = false) => {
    host.progress?.(null);
    printText(stream, `${isRow ? fitLine(line, stream) : line}\n`);
  };
}
