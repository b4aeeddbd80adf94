import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from '../hosts/at-exit.ts';
import type { Inventory, PackageSource } from '../inventory/inventory.ts';
import { BUNDLED_PACKAGE, planBundle } from './copy-bundle.ts';
import { type LocalFile, mainOf, readTarball, type Tarball } from './tarball.ts';

/** A package that hosts are to have. */
export interface PlannedPackage {
  /** Name of its installation on a host: equal keys are equal installations. */
  readonly key: string;
  readonly how: 'npm' | 'copy';
  /** Main file, relative to the installation. */
  readonly main: string;
  /** `longhaul 0.1.0`, for messages. */
  readonly label: string;
  /** The file to send; made when the first host needs it. */
  file(): Promise<LocalFile>;
}

/** The packages of an inventory. */
export class Packages {
  readonly #planned: ReadonlyMap<string, PlannedPackage>;
  readonly #folders: string[];

  private constructor(planned: ReadonlyMap<string, PlannedPackage>, folders: string[]) {
    this.#planned = planned;
    this.#folders = folders;
  }

  /** Reads every tarball and plans every copy. @throws MlperfError */
  static async plan({ loadgen, nodes }: Inventory): Promise<Packages> {
    const planned = new Map<string, PlannedPackage>();
    const folders: string[] = [];
    const tarballs = new Map<string, Promise<Tarball>>();
    const read = (path: string): Promise<Tarball> => {
      const tarball = tarballs.get(path) ?? readTarball(path);
      tarballs.set(path, tarball);
      return tarball;
    };
    for (const { source } of [loadgen, ...nodes.map(({ host }) => host)]) {
      const id = idOf(source);
      if (source.kind === 'command' || planned.has(id)) continue;
      const tarball = source.tarball === undefined ? undefined : await read(source.tarball);
      const one =
        source.kind === 'npm' && tarball !== undefined
          ? npmPackage(tarball)
          : copiedPackage(tarball, folders);
      planned.set(id, one);
    }
    return new Packages(planned, folders);
  }

  /** Undefined where an installation of the host's own is used. */
  of(source: PackageSource): PlannedPackage | undefined {
    return this.#planned.get(idOf(source));
  }

  /** Removes what was made on this machine. */
  close(): void {
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}

function idOf(source: PackageSource): string {
  return JSON.stringify(source);
}

function npmPackage(tarball: Tarball): PlannedPackage {
  const { document, sha256 } = tarball;
  const key = createHash('sha256').update(`npm\n${sha256}`).digest('hex').slice(0, 24);
  return {
    ...{ key, how: 'npm' },
    main: join('node_modules', document.name, mainOf(document)),
    label: `${document.name} ${document.version}`,
    file: () => Promise.resolve(tarball),
  };
}

function copiedPackage(tarball: Tarball | undefined, folders: string[]): PlannedPackage {
  const { document, key, make } = planBundle(tarball);
  let made: Promise<LocalFile> | undefined;
  const makeOnce = (): Promise<LocalFile> => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-bundle-'));
    folders.push(folder);
    // Who is interrupted while it is made closes, and what is still at work may make the folder anew.
    atExit(() => rmSync(folder, { recursive: true, force: true }));
    return make(folder);
  };
  return {
    ...{ key, how: 'copy' },
    main: join(BUNDLED_PACKAGE, mainOf(document)),
    label: `${document.name} ${document.version}`,
    file: () => {
      made ??= makeOnce();
      return made;
    },
  };
}
