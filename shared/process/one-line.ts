/** Text that may come from another machine, without the characters that would end its line or steer a terminal. */
export function asOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\ufffd');
}
