/** The middle value; of an even number of values the upper one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Prints a row of a Markdown table. */
export function row(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

/** Prints the head of a Markdown table; the first `texts` columns hold text, the others numbers. */
export function head(texts: number, ...cells: readonly string[]): void {
  row(...cells);
  row(...cells.map((_, i) => (i < texts ? '---' : '---:')));
}
