/** `1 error`, `2 errors`. @param what In the singular; its plural is made by an "s". */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** The first of some names: `a, b and 3 more`. @param most Names that are shown. */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
