/**
 * True in the project `slow`, which takes some files of the fast projects again, with all of their
 * cases.
 */
export const IS_THOROUGH: boolean = process.env['LONGHAUL_THOROUGH'] === '1';

/** All cases in the project `slow`, the first ones in the fast ones. */
export function casesOf<T>(all: readonly T[], few: number): readonly T[] {
  return IS_THOROUGH ? all : all.slice(0, few);
}

/** How often a property is tried: `many` times in the project `slow`, else `few` times. */
export function runsOf(many: number, few: number): number {
  return IS_THOROUGH ? many : few;
}
