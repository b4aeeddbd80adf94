import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { suiteFolder } from '../../process/suite-folder.ts';

/** deploy/kubernetes of this repository. */
export const MANIFESTS: string = fileURLToPath(
  new URL('../../../../deploy/kubernetes', import.meta.url),
);

/** An object as it is sent to the API server. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Why nothing can be rendered here, or undefined where it can. */
export function whyNoKubectl(): string | undefined {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'needs kubectl';
  }
}

const texts = new Map<string, Promise<{ readonly stdout: string }>>();

/** What `kubectl kustomize FOLDER` makes, as text; a folder is rendered once. */
async function renderText(folder: string): Promise<string> {
  const known = texts.get(folder) ?? promisify(execFile)('kubectl', ['kustomize', folder]);
  texts.set(folder, known);
  return (await known).stdout;
}

/** The objects of what `kubectl kustomize FOLDER` makes. */
export async function render(folder: string): Promise<KubeObject[]> {
  // The API server reads YAML 1.1.
  const documents = parseAllDocuments(await renderText(folder), { version: '1.1' });
  if ('empty' in documents) return [];
  return documents.map((document) => {
    const problem = document.errors[0];
    if (problem !== undefined) throw problem;
    return document.toJS() as KubeObject;
  });
}

/** A folder that is an overlay with components in addition, as README.md tells to add them. */
export function withComponents(overlay: string, components: readonly string[]): string {
  const folder = join(suiteFolder(), `${overlay}-with-${components.join('-')}`);
  mkdirSync(folder, { recursive: true });
  const path = (...parts: string[]): string => relative(folder, join(MANIFESTS, ...parts));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [path('overlays', overlay)],
    components: components.map((name) => path('components', name)),
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return folder;
}
