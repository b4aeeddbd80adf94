import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { parseAllDocuments } from 'yaml';
import { suiteFolder } from '../../../scenes/host/folders.ts';
import { repositoryFile } from '../../../scenes/host/repository.ts';

/** deploy/kubernetes of this repository. */
export const MANIFESTS = repositoryFile('deploy/kubernetes');

/** An object as it is sent to the API server. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
}

/** Labels or annotations. */
export type Labels = Readonly<Record<string, string>>;

/** `Kind/name`, for messages and references. */
export const named = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

/** The pods that an object makes, or the pod itself. */
export interface Pods {
  /** `Kind/name` of the object. */
  readonly owner: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly spec: IPodSpec;
}

/** All pods of the objects, whatever makes them. */
export function podsOf(objects: readonly KubeObject[]): Pods[] {
  return objects.flatMap((object) => {
    const { kind, spec } = object as KubeObject & {
      spec?: { template?: Omit<KubeObject, 'kind'> };
    };
    const pod = (kind === 'Pod' ? object : spec?.template) as
      | (Pick<KubeObject, 'metadata'> & { readonly spec: IPodSpec })
      | undefined;
    if (pod === undefined) return [];
    const { labels = {}, annotations = {} } = pod.metadata;
    return [{ owner: named(object), labels, annotations, spec: pod.spec }];
  });
}

/** All containers of a pod, those that run before the others first. */
export function containersOf(spec: IPodSpec): IContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Files of a ConfigMap by its name in references, with what the generator puts behind it. */
export function configFiles(objects: readonly KubeObject[], name: string): Record<string, string> {
  const map = objects.find((object) => named(object) === `ConfigMap/${name}`);
  return (map as (IConfigMap & KubeObject) | undefined)?.data ?? {};
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

/** Output of `kubectl kustomize FOLDER`; a folder is rendered once. */
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
