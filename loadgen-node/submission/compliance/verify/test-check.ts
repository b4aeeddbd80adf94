/** One thing that a compliance test looks at. */
export interface TestCheck {
  /** What it is about, in a few words: `performance`, `whole responses`. */
  readonly name: string;
  readonly isMet: boolean;
  /** True for what the official verification script or checker decides; false for what longhaul looks at as well. */
  readonly isOfficial: boolean;
  /** What was compared, with the figures. */
  readonly text: string;
  /** Where it is met, and a reader who stops there would be wrong: what it leaves open. */
  readonly warning?: string;
  /** Where it is not met: what it means and what to look at. */
  readonly advice?: string;
}

/** A check; of advice and warning it keeps the one that its outcome calls for. */
export function check(
  name: string,
  isMet: boolean,
  text: string,
  { isOfficial = false, warning, advice }: Partial<Omit<TestCheck, 'name' | 'isMet' | 'text'>> = {},
): TestCheck {
  return {
    ...{ name, isMet, isOfficial, text },
    ...(isMet && warning !== undefined && { warning }),
    ...(!isMet && advice !== undefined && { advice }),
  };
}
