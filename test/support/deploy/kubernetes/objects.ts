import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { KubeObject } from './render.ts';

/** Labels as a pod has them. */
export type Labels = Readonly<Record<string, string>>;

/** A selector of labels, as most kinds have it. */
export interface Selector {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

/** What an object says of the pods that it makes, or the pod itself. */
export interface Pods {
  /** `Kind/name` of the object. */
  readonly owner: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly spec: IPodSpec;
}

/** `Kind/name`, for messages. */
export function named({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}

/** Objects of a kind, as their interface. */
export function ofKind<T>(objects: readonly KubeObject[], kind: string): (T & KubeObject)[] {
  return objects.filter((object): object is T & KubeObject => object.kind === kind);
}

interface PodMaker {
  readonly spec: {
    readonly template: {
      readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
      readonly spec: IPodSpec;
    };
  };
}

/** All pods of the objects, whatever makes them. */
export function podsOf(objects: readonly KubeObject[]): Pods[] {
  return objects.flatMap((object) => {
    if (object.kind === 'Pod') {
      const { labels = {}, annotations = {} } = object.metadata;
      const { spec } = object as KubeObject & { readonly spec: IPodSpec };
      return [{ owner: named(object), labels, annotations, spec }];
    }
    if (!('spec' in object) || !hasTemplate(object.spec)) return [];
    const { metadata = {}, spec } = (object as KubeObject & PodMaker).spec.template;
    const { labels = {}, annotations = {} } = metadata;
    return [{ owner: named(object), labels, annotations, spec }];
  });
}

function hasTemplate(spec: unknown): boolean {
  return typeof spec === 'object' && spec !== null && 'template' in spec;
}

/** All containers of a pod, those that run before the others first. */
export function containersOf(spec: IPodSpec): IContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Pods that a selector takes. An empty one takes all. */
export function selected(pods: readonly Pods[], selector: Selector): Pods[] {
  return pods.filter(({ labels }) => matches(labels, selector));
}

/** Whether labels are what a selector asks for. */
export function matches(labels: Labels, selector: Selector): boolean {
  const wanted = Object.entries(selector.matchLabels ?? {});
  if (wanted.some(([key, value]) => labels[key] !== value)) return false;
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    const isIn = value !== undefined && values.includes(value);
    return operator === 'In' ? isIn : !isIn;
  });
}

/** A ConfigMap by its name in references, with what the generator puts behind it. */
export function configMap(objects: readonly KubeObject[], name: string): IConfigMap | undefined {
  return ofKind<IConfigMap>(objects, 'ConfigMap').find(({ metadata }) => metadata.name === name);
}
