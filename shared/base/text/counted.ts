/** `1 error`, `2 errors`. @param what In the singular; its plural is made by an "s". */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
