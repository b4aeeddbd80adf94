/** A type none of whose fields can be assigned, at any depth: of what a schema of zod infers. */
export type DeepReadonly<T> = T extends object
  ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;
