/** Text that may come from another machine, without the characters that would end its line or steer a terminal. */
export function asOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\ufffd');
}

/** The sentences of a text, a line each: as one line they are longer than anybody reads where nothing wraps it. */
export function sentencesOf(text: string): string[] {
  return text.split(/(?<=\.) (?=["\p{Lu}])/u);
}
