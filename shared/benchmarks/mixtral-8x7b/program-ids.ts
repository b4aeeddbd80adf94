/**
 * Token ids by which a program's prompt is known: `<s>`, and `<s> [INST] Complete the following code.` Source: mlcommons/inference,
 * language/mixtral-8x7b/standalone_infer/run_accuracy.py, which shows the beginning of one row of MBXP: its text, and the first 8 ids. The
 * other three are those of the text; that all rows begin so is a guess, which the LoadGen node checks on its data set.
 */
export const PROGRAM_PROMPT_HEAD: readonly number[] = [
  ...[1, 1, 28_705, 733, 16_289, 28_793],
  ...[21_929, 272, 2296, 2696, 28_723],
];

/** Three back-ticks on a line of their own, which end a program. Source: mlcommons/inference v4.1, language/mixtral-8x7b/SUT.py. */
export const PROGRAM_END: readonly number[] = [13, 13_940, 28_832, 13];
