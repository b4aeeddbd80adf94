import { spawnSync } from 'node:child_process';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../shared/base/errors/to-mlperf-error.ts';

/** The state of a clone. */
export interface Revision {
  /** Commit in hex, with `-dirty` where files differ from it. */
  readonly name: string;
  /** Time of the commit, ISO 8601; null outside of git. */
  readonly committedAt: string | null;
  /** Files that differ from the commit, or are new. */
  readonly changed: readonly string[];
}

/**
 * Reads the revision of a clone.
 * @throws MlperfError `ERR_NOT_INSTALLED` where there is no git, or no clone
 */
export function readRevision(root: string): Revision {
  const git = (...args: string[]): string => output('git', args, root);
  const changed = git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3));
  const commit = git('rev-parse', 'HEAD').trim();
  return {
    name: changed.length === 0 ? commit : `${commit}-dirty`,
    committedAt: git('show', '-s', '--format=%cI', 'HEAD').trim(),
    changed,
  };
}

/**
 * Runs the npm that runs this program, without a shell, on every system.
 * @returns What it printed.
 * @throws MlperfError `ERR_NOT_INSTALLED` with the last lines of what it said
 */
export function npm(args: readonly string[], cwd: string): string {
  const cli = process.env['npm_execpath'];
  if (cli === undefined) {
    throw new MlperfError('ERR_CONFIG_INVALID', 'start this program by "npm run release"');
  }
  return output(process.execPath, [cli, ...args], cwd);
}

/** @throws MlperfError `ERR_NOT_INSTALLED` when a program cannot be started or fails */
export function output(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error === undefined && status === 0) return stdout;
  const said = error === undefined ? stderr.trim().split('\n').slice(-5).join('\n') : '';
  const why = error === undefined ? `exit code ${status}\n${said}` : messageOf(error);
  throw new MlperfError('ERR_NOT_INSTALLED', `${program} ${args.join(' ')} failed: ${why}`);
}
