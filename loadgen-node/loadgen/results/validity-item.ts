/** One of LoadGen's validity rules: met or not, with what it asks for and what it saw. */
export interface ValidityItem {
  readonly isMet: boolean;
  /** For people, with the unit. */
  readonly needed: string;
  /** For people, with the unit. */
  readonly seen: string;
  /** LoadGen's advice in the summary; empty when met. */
  readonly recommendation: string;
}
