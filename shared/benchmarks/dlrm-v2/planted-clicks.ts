/**
 * Raise with every change of how data is drawn: no data set of the old way is found in the cache
 * then.
 */
export const CLICKS_REVISION = 2;

/** The dense feature of a pair that carries the logit of a click. */
export const PLANTED_DENSE = 7;

/** AUC of the stand-in model on the standard samples, as the official script prints it. */
export const STANDIN_AUC = 0.79933;
