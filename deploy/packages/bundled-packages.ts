import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { type LicensedPackage, licencesOf } from './licences.ts';
import type { LockEntries } from './lock-file.ts';
import { moduleReferences } from './module-references.ts';

/** The live page below `dist/`: one file with all that its script imports, packages among it. */
export const PAGE = 'loadgen-node/present/live/page/index.html';

/** The file of a package that has the licences of what is inside the page. */
export const NOTICES = 'THIRD-PARTY.md';

/** Names of the packages that are inside the page, by the imports of its sources. */
function bundledPackages(root: string): string[] {
  const folder = join(root, dirname(PAGE));
  const sources = readdirSync(folder).filter(
    (name) => name.endsWith('.ts') && name !== 'vite.config.ts',
  );
  const names = sources.flatMap((name) =>
    moduleReferences(`page/${name}`, readFileSync(join(folder, name), 'utf8'))
      .references.filter(({ kind }) => kind === 'package')
      .map(({ target }) => target),
  );
  return [...new Set(names)].sort();
}

/** Licences of what is inside the page. @throws MlperfError of {@link licencesOf} */
export function bundledLicences(root: string, lock: LockEntries): LicensedPackage[] {
  const paths = bundledPackages(root).map((name) => `node_modules/${name}`);
  const entries = Object.entries(lock).filter(([path]) => paths.includes(path));
  return licencesOf(root, Object.fromEntries(entries));
}

/**
 * Texts of the licences of what is inside the page: who hands on the page hands them on.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a package without such a text
 */
export function bundledNotices(root: string): string {
  const notices = bundledPackages(root).map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) {
      const text = `${name}, which is inside ${PAGE}, has no file with its licence`;
      throw new MlperfError('ERR_CONFIG_INVALID', text);
    }
    return `## ${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `# Inside dist/${PAGE}\n\n${notices.join('\n')}`;
}
