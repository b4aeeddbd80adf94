import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe } from 'vitest';
import { findLoadgen } from '../../../loadgen-node/official/checkout.ts';
import { linkLoadgen } from '../../../loadgen-node/official/link.ts';

/**
 * Clone of mlcommons/inference with its tags; undefined: the tests skip, and the last line says so.
 */
const INFERENCE_CLONE: string | undefined = process.env['MLPERF_INFERENCE'];

/** Python 3 with numpy and PyYAML. */
const PYTHON = process.env['PYTHON'] ?? 'python3';

/** Tests that need the official tools. */
export const describeOfficial: ReturnType<typeof describe.skipIf> = describe.skipIf(
  INFERENCE_CLONE === undefined,
);

/** Outcome of a tool. */
export interface ToolRun {
  readonly code: number | null;
  /** Of both streams. */
  readonly output: string;
}

/** The official tools of one tag (or branch), taken out of the clone. */
export class OfficialTools {
  readonly #folder: string;

  /** @param folder Empty; gets the files. */
  constructor(tag: string, folder: string, paths: readonly string[]) {
    requireModules();
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    const clone = INFERENCE_CLONE as string;
    const archive = execFileSync('git', ['-C', clone, 'archive', tag, ...paths], {
      maxBuffer: 2 ** 28,
    });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
  }

  /**
   * Runs a script of Python or bash. The tools write into the working directory and call `python3`
   * by name.
   */
  run(script: string, args: readonly string[], cwd: string): ToolRun {
    mkdirSync(cwd, { recursive: true });
    const program = script.endsWith('.sh') ? 'bash' : PYTHON;
    const { status, stdout, stderr } = spawnSync(program, [join(this.#folder, script), ...args], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, PATH: path(), PYTHONDONTWRITEBYTECODE: '1' },
      maxBuffer: 2 ** 28,
    });
    return { code: status, output: `${stdout}${stderr}` };
  }
}

/**
 * Builds the C++ LoadGen of a tag (or branch) by its own CMake files, and links it.
 * @param folder Gets the checkout.
 * @returns The cache folder (`--cache-dir`) in which it is linked
 */
export function linkOfficial(version: string, folder: string): string {
  const clone = INFERENCE_CLONE as string;
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], QUIET);
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', clone, folder]);
  git('sparse-checkout', 'set', 'loadgen');
  // A branch of the clone is none of its clone.
  const commit = execFileSync('git', ['-C', clone, 'rev-parse', `${version}^{commit}`], QUIET);
  git('checkout', '--quiet', commit.toString().trim());
  const build = join(folder, 'loadgen', 'build');
  const flags = ['-DCMAKE_POSITION_INDEPENDENT_CODE=ON'];
  execFileSync('cmake', ['-S', join(folder, 'loadgen'), '-B', build, ...flags], QUIET);
  execFileSync('cmake', ['--build', build, '-j2', '--target', 'mlperf_loadgen'], QUIET);
  const cacheFolder = join(folder, 'cache');
  linkLoadgen(findLoadgen(folder), { compiler: 'g++', cacheFolder });
  return cacheFolder;
}

const QUIET = { stdio: 'pipe' } as const;

/** @throws Error Who names a clone wants the tests to run: they do not skip then. */
function requireModules(): void {
  const { status } = spawnSync(PYTHON, ['-c', 'import numpy, yaml']);
  if (status !== 0) throw new Error(`${PYTHON} lacks numpy or yaml (PYTHON names another one)`);
}

/** A submission checker of one tag (or branch). */
export interface OfficialChecker {
  readonly tag: string;
  readonly script: string;
  /** Files of the tool. */
  readonly files: readonly string[];
}

/** The checker of a round's own tag, up to v5.0. */
export function taggedChecker<Tag extends string>(tag: Tag): OfficialChecker & { tag: Tag } {
  const folder = 'tools/submission';
  const script = `${folder}/submission_checker.py`;
  return { tag, script, files: [script, `${folder}/log_parser.py`, `${folder}/power`] };
}

/** The newest checker; it knows v5.0 and later. */
export const NEWEST_CHECKER: OfficialChecker = {
  tag: 'HEAD',
  script: 'tools/submission/submission_checker/main.py',
  files: ['tools/submission/submission_checker', 'tools/submission/power'],
};

/** Scripts of earlier rounds start `python3` by name: it has to be the same Python. */
function path(): string {
  const own = PYTHON.includes('/') ? [dirname(PYTHON)] : [];
  return [...own, process.env['PATH'] ?? ''].join(delimiter);
}
