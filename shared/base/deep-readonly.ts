/** A type that is readonly at every depth, for types inferred from a zod schema. */
export type DeepReadonly<T> = T extends object
  ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;
