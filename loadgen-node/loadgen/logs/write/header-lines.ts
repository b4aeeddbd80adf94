import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { firstOf } from '../../../../shared/base/text/counted.ts';
import type { LoadgenBehaviour } from '../../settings/loadgen-behaviour.ts';
import type { DetailLog } from './detail-log.ts';

/** The program's own files against the manifest of its build. */
export interface SelfCheck {
  readonly version: string;
  /** SHA-256 over the sorted list of files and hashes: one value for the whole program. */
  readonly hash: string;
  /** `no-manifest`: there is no list to hold against; nothing can be said. */
  readonly state: 'unmodified' | 'modified' | 'no-manifest';
  /** Files that are changed, missing or not in the list; all of them when the list is damaged. */
  readonly differingFiles: readonly string[];
  /** SHA-256 of each file in hex, by path with `/`. */
  readonly files: Readonly<Record<string, string>>;
}

/** What a test says of itself before anything else. */
export interface TestHeader {
  /** Date and time of the test, UTC. */
  readonly datetime: string;
  readonly sutName: string;
  readonly sutNameDurationNs: number;
  readonly qslName: string;
  readonly totalSampleCount: number;
  readonly performanceSampleCount: number;
  /** The program's own files; undefined where nobody looked. */
  readonly selfCheck: SelfCheck | undefined;
}

/**
 * Writes the first lines of the detail log. LoadGen names its build there; what this LoadGen is and
 * whose behaviour it follows is all that can be said honestly.
 */
export function writeHeader(log: DetailLog, header: TestHeader, loadgen: LoadgenBehaviour): void {
  log.text(
    'loadgen_version',
    `longhaul ${packageVersion()} (LoadGen ${loadgen.version} behaviour)`,
  );
  for (const key of [
    'loadgen_build_date_local',
    'loadgen_build_date_utc',
    'loadgen_git_commit_date',
    'loadgen_git_log_message',
    'loadgen_git_status_message',
  ]) {
    log.text(key, 'NA');
  }
  log.map('loadgen_file_sha1', {});
  log.text('longhaul_rng_library', loadgen.rngLibrary);
  if (header.selfCheck !== undefined) writeSelfCheck(log, header.selfCheck);
  log.text('test_datetime', header.datetime);
  log.text('sut_name', header.sutName);
  log.integer('get_sut_name_duration_ns', header.sutNameDurationNs);
  log.text('qsl_name', header.qslName);
  log.integer('qsl_reported_total_count', header.totalSampleCount);
  log.integer('qsl_reported_performance_count', header.performanceSampleCount);
}

/** Differing files above this are only counted. */
const NAMED_FILES_MAX = 20;

function writeSelfCheck(log: DetailLog, { hash, state, differingFiles }: SelfCheck): void {
  log.text('longhaul_files_sha256', hash);
  log.text('longhaul_files_state', state);
  if (state === 'modified') {
    log.text('longhaul_files_differing', firstOf(differingFiles, NAMED_FILES_MAX));
  }
}
