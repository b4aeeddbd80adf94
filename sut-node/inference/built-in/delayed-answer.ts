/** What becomes of one sample, decided when its service begins. Times are ns from there. */
export interface DelayedAnswer {
  readonly atNs: number;
  /** A view that many answers may share. */
  readonly payload: Uint8Array;
  /** Undefined where the model has no tokens. */
  readonly tokens:
    | { readonly count: number; readonly firstAtNs: number; readonly first: Uint8Array }
    | undefined;
}
