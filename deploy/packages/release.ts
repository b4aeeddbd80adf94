import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../shared/base/errors/to-mlperf-error.ts';
import { distFolder } from '../../shared/base/files/package-files.ts';
import { reportError } from '../../shared/base/process/report-error.ts';
import { buildRelease } from './build-release.ts';
import { type Revision, readRevision } from './programs.ts';

const HELP = `Usage: npm run release [-- --allow-dirty]

Builds the project and writes the folder release/, all of it or nothing: the packages longhaul, longhaul-loadgen and
longhaul-sut as tarballs, a software bill of materials of each (CycloneDX and SPDX), licences.md, release.json with
version and git revision, SHA256SUMS. See deploy/packages/README.md.

  --allow-dirty  also where files differ from the commit, or outside of git; the revision says so

Exit codes: 0 written, 2 wrong flags, a dirty tree or an import that a package may not have, 6 npm or git failed.
`;

/** @throws MlperfError `ERR_CONFIG_INVALID` where the files are no commit's and nobody has said that they may be */
function revisionOf(root: string, isDirtyAllowed: boolean): Revision {
  let revision: Revision;
  try {
    revision = readRevision(root);
  } catch (error) {
    if (!isDirtyAllowed) throw error;
    return { name: 'unknown', committedAt: null, changed: [] };
  }
  const { changed } = revision;
  if (changed.length === 0 || isDirtyAllowed) return revision;
  const more = changed.length > 1 ? ` and ${changed.length - 1} more` : '';
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${changed[0]}${more} differ from the commit: commit them, or say "npm run release -- --allow-dirty"`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

function release(args: readonly string[]): void {
  const { 'allow-dirty': isDirtyAllowed, help } = readFlags(args);
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  const root = dirname(distFolder());
  const revision = revisionOf(root, isDirtyAllowed);
  for (const { file, packedBytes, unpackedBytes, files, dependencies } of buildRelease(
    root,
    revision,
  )) {
    const size = `${megabytes(packedBytes)} packed, ${megabytes(unpackedBytes)} in ${files} files`;
    process.stdout.write(`release/${file}: ${size}; ${dependencies} packages beside it\n`);
  }
  process.stdout.write(`revision ${revision.name}\n`);
}

function readFlags(args: readonly string[]): { 'allow-dirty': boolean; help: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ args: [...args], options: { 'allow-dirty': flag, help: flag } }).values;
  } catch (error) {
    throw new MlperfError('ERR_CONFIG_INVALID', `${messageOf(error)} (--help says more)`);
  }
}

try {
  release(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}
