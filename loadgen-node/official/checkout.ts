import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { configInvalid, messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { GENERATED_HEADER, tagOfTree } from './known-loadgens.ts';

const LIBRARY = 'libmlperf_loadgen.a';

/** A checkout of MLCommons' repository `inference`, with LoadGen built in it. */
export interface LoadgenCheckout {
  /** Absolute path. */
  readonly folder: string;
  readonly library: string;
  /** Commit of HEAD; undefined if git does not know the folder. */
  readonly commit: string | undefined;
  /** Git tree of HEAD's folder `loadgen`. */
  readonly tree: string | undefined;
  /** Tag whose `loadgen` has this tree; undefined if unknown. */
  readonly tag: string | undefined;
  /** Changed files in `loadgen`, as listed by `git status --porcelain`. */
  readonly changes: readonly string[];
  /** True if mlperf.conf is built into the library (from v5.0 on). */
  readonly hasBuiltInConf: boolean;
}

/**
 * Inspects a checkout: its LoadGen version, and whether its files match its commit.
 * @param library Static library; default: the one below `loadgen`.
 * @throws MlperfError `ERR_CONFIG_INVALID` if it is not a checkout, or if the library is not
 *   built
 */
export function findLoadgen(inferenceDir: string, library?: string): LoadgenCheckout {
  const folder = resolve(inferenceDir);
  const loadgen = join(folder, 'loadgen');
  if (!existsSync(join(loadgen, 'system_under_test.h'))) {
    throw configInvalid(
      `--inference-dir ${inferenceDir} is not a checkout of MLCommons' repository "inference": it has no loadgen/system_under_test.h`,
    );
  }
  const tree = git(folder, 'rev-parse', 'HEAD:loadgen');
  const status =
    git(folder, 'status', '--porcelain', '--untracked-files=no', '--', 'loadgen') ?? '';
  return {
    folder,
    library: libraryOf(loadgen, library),
    commit: git(folder, 'rev-parse', 'HEAD'),
    tree,
    tag: tagOfTree(tree),
    changes: status.split('\n').filter((line) => line !== '' && !line.endsWith(GENERATED_HEADER)),
    hasBuiltInConf: existsSync(join(loadgen, 'VERSION.txt')),
  };
}

function libraryOf(loadgen: string, asked: string | undefined): string {
  if (asked !== undefined) {
    if (existsSync(asked)) return resolve(asked);
    throw configInvalid(`--library ${asked} does not exist: name LoadGen's static library`);
  }
  const below = readdirSync(loadgen, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const found = ['', ...below.map(({ name }) => name)]
    .map((folder) => join(loadgen, folder, LIBRARY))
    .filter((path) => existsSync(path))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (found !== undefined) return found;
  throw configInvalid(
    `LoadGen is not built: there is no ${LIBRARY} in ${loadgen} or a folder below it. Build it there by its README_BUILD, ` +
      'as position-independent code: mkdir loadgen/build && cd loadgen/build && cmake -DCMAKE_POSITION_INDEPENDENT_CODE=ON .. && cmake --build .',
  );
}

/** Output of git in a folder; undefined if git is missing or fails. */
function git(folder: string, ...args: readonly string[]): string | undefined {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', ['-C', folder, ...args], {
      encoding: 'utf8',
      stdio: [...stdio],
    }).trimEnd();
  } catch (error) {
    // Not a repository, or git is not installed: the version is then unknown.
    return void messageOf(error);
  }
}
