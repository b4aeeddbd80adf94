/** A text of at most so many characters that ends with a whole word, and `...` where something was left out. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 3);
  const end = cut.search(/\s\S*$/);
  return `${end > 0 ? cut.slice(0, end) : cut}...`;
}
