/**
 * Rows of cells as lines of a table for a terminal, without blanks at their ends.
 * @param gap Between two columns.
 * @param isRight Columns whose cells stand to the right.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  gap: string,
  isRight: (column: number) => boolean,
): string[] {
  const widthOf = (column: number): number =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column));
  return rows.map((row) =>
    widths
      .map((width, i) =>
        isRight(i) ? (row[i] ?? '').padStart(width) : (row[i] ?? '').padEnd(width),
      )
      .join(gap)
      .trimEnd(),
  );
}
