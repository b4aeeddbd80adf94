/** A table of Markdown; cells must not hold line breaks. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
  const rule = line(header.map(() => '---'));
  return line(header) + rule + rows.map(line).join('');
}

/** Text as code; the fence is longer than any in the text. */
export function codeBlock(text: string, language = ''): string {
  const ticks = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...ticks.map((tick) => tick.length + 1)));
  return `${fence}${language}\n${text.trimEnd()}\n${fence}\n`;
}

/** Paragraphs, headings and tables with one empty line between them; empty ones are left out. */
export function document(...parts: readonly string[]): string {
  const there = parts.map((part) => part.trimEnd()).filter((part) => part !== '');
  return `${there.join('\n\n')}\n`;
}
