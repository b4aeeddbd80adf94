/** What reading configuration files leaves for the detail log, in LoadGen's words. */
export interface ConfigEvent {
  /**
   * `files`: before the test (LoadGen: FromConfig of the harness), logged before everything else;
   * `audit`: in the test, from audit.config and test05, logged before the requested settings.
   */
  readonly stage: 'files' | 'audit';
  readonly kind: 'error' | 'warning';
  /** Key of the line: `error_invalid_config`, `warning_generic_message`. */
  readonly key: string;
  readonly text: string;
}
