/** A job for a child process. */
export type RecordsJob =
  | { readonly kind: 'keep'; readonly folder: string; readonly count: number }
  | { readonly kind: 'report'; readonly folder: string };

/** Result of a job. */
export interface RecordsResult {
  /** Writing the file; deriving all figures from it. */
  readonly seconds: number;
  /** Resident memory before that. */
  readonly rssBeginBytes: number;
  readonly rssMaxBytes: number;
  readonly fileBytes: number;
  /** `keep`: the timed region. */
  readonly issueS: number;
}
