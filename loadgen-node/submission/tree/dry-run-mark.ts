/** File in the root of a tree of shortened runs. */
export const DRY_RUN_FILE = 'NOT_SUBMITTABLE.md';

/** Words of that file, of LONGHAUL.md and of the README of every result of such a tree. */
export const DRY_RUN_WORDS = 'Not to be handed in';
