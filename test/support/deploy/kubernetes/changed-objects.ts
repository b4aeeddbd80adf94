import type { KubeObject } from './render.ts';

/** An object that may be changed. */
export type Tree = { kind: string } & Record<string, unknown>;

/** A place in the first object of a kind, by keys and numbers between points. */
export function at(objects: readonly Tree[], kind: string, path: string): Record<string, unknown> {
  let place: unknown = objects.find((object) => object.kind === kind);
  for (const key of path.split('.').filter((one) => one !== '')) {
    place = (place as Record<string, unknown> | undefined)?.[key];
  }
  if (typeof place !== 'object' || place === null) throw new Error(`${kind} has no ${path}`);
  return place as Record<string, unknown>;
}

/** The objects with another value at one place. */
export function changed(
  objects: readonly KubeObject[],
  kind: string,
  path: string,
  key: string,
  value: unknown,
): KubeObject[] {
  const tree = structuredClone(objects) as unknown as Tree[];
  at(tree, kind, path)[key] = value;
  return tree as unknown as KubeObject[];
}
