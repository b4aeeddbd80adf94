/** Cells of one line of a table, divided by commas, without the blanks around them; quoted ones may hold commas. */
export function parseCsvLine(line: string): string[] {
  if (!line.includes('"')) return line.split(',').map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const char of line) {
    // A doubled quote closes and opens again: the text of such a cell is not what is looked for here.
    if (char === '"') isQuoted = !isQuoted;
    else if (char === ',' && !isQuoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += char;
  }
  cells.push(cell.trim());
  return cells;
}
