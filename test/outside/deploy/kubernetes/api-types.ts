import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryFile } from '../../../scenes/host/repository.ts';
import { type KubeObject, named } from './render.ts';

const MODULES = repositoryFile('node_modules');

const OPTIONS = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, exactOptionalPropertyTypes: true },
  ...{ module: 'nodenext', moduleResolution: 'nodenext', target: 'es2023', types: [] },
};

/**
 * Compares objects with the API's types (kubernetes-models, made of the API's own schema): each is
 * written down as a literal of its interface, and the compiler finds unknown fields, at any depth,
 * wrong types and what is missing.
 * @returns `Kind/name: message`, in the order of the objects; an object whose type is not known
 *   is one of them.
 */
export function typeErrors(objects: readonly KubeObject[]): string[] {
  mkdirSync(join(MODULES, '.cache'), { recursive: true });
  // Below node_modules, so that the types are found from it.
  const folder = mkdtempSync(join(MODULES, '.cache', 'kubernetes-types-'));
  try {
    const known = objects.filter((object) => moduleOf(object) !== undefined);
    for (const [i, object] of known.entries()) {
      const type = `import('${moduleOf(object)}').I${object.kind}`;
      const literal = JSON.stringify(object, null, 1);
      writeFileSync(join(folder, `${i}.ts`), `export const object: ${type} =\n${literal};\n`);
    }
    const files = known.map((_, i) => `${i}.ts`);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: OPTIONS, files }),
    );
    const args = [join(MODULES, 'typescript', 'bin', 'tsc'), '--pretty', 'false', '-p', folder];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    const lines = [...stdout.matchAll(/^(\d+)\.ts\(\d+,\d+\): error (TS\d+: .*)$/gm)];
    if (status !== 0 && lines.length === 0) throw new Error(`the compiler failed: ${stdout}`);
    return [
      ...objects
        .filter((object) => !known.includes(object))
        .map((object) => `${named(object)}: no type of ${object.apiVersion} is known`),
      ...lines.map(([, i, message]) => `${named(known[Number(i)] as KubeObject)}: ${message}`),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Module that has the interface of an object; undefined where there is none. */
function moduleOf({ apiVersion, kind }: KubeObject): string | undefined {
  return [
    `kubernetes-models/${apiVersion}/${kind}`,
    `@kubernetes-models/prometheus-operator/${apiVersion}/${kind}`,
  ].find((module) => existsSync(join(MODULES, `${module}.d.ts`)));
}
