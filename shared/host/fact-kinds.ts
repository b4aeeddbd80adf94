import { z } from 'zod';

/** One printable line: another machine may send anything. */
export const line = z
  .string()
  .max(1024)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');
export const words = line.nullable();
export const positive = z.number().positive();
export const quantity = positive.nullable();
/** A number that may be 0. */
export const tally = z.number().min(0).nullable();
export const fraction = z.number().min(0).max(1).nullable();

/** One of a few words; null for a word of a later version. */
export const wordOf = <const T extends readonly [string, ...string[]]>(list: T) =>
  z.enum(list).nullable().catch(null);

/** Bound on lists: no machine has more of anything, but a foreign node may send more. */
const LIST_LENGTH_MAX = 4096;
export const list = <T extends z.ZodType>(schema: T) => z.array(schema).max(LIST_LENGTH_MAX);

/** Facts read in one look at a machine: each with its kind and its reader. */
type FactTable<L> = Readonly<
  Record<string, { readonly kind: z.ZodType; readonly read: (look: L) => unknown }>
>;
type KindsOf<T extends FactTable<never>> = { [K in keyof T]: T[K]['kind'] };
type FactsOf<T extends FactTable<never>> = { [K in keyof T]: z.infer<T[K]['kind']> };

/** Makes the rows of a table, each with its own type. */
export const rowsOf =
  <L>() =>
  <T>(kind: z.ZodType<T>, read: (look: L) => T | Promise<T>) => ({ kind, read });

/** Schema of a table's facts, for a file or another machine's message. */
export function formOf<T extends FactTable<never>>(table: T): z.ZodObject<KindsOf<T>> {
  const kinds = Object.entries(table).map(([key, { kind }]) => [key, kind]);
  return z.object(Object.fromEntries(kinds) as KindsOf<T>);
}

/** Reads the facts of a table in sequence. */
export async function readFacts<L, T extends FactTable<L>>(table: T, look: L): Promise<FactsOf<T>> {
  const facts: Record<string, unknown> = {};
  for (const [key, { read }] of Object.entries(table)) facts[key] = await read(look);
  return facts as FactsOf<T>; // Exactly these keys.
}

/** Facts as a message; the protocol leaves out unknown values. */
export function toWire<T>(facts: T): WithoutNulls<T>;
export function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => toWire<unknown>(one));
  if (typeof value !== 'object' || value === null) return value;
  const there = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(there.map(([key, one]) => [key, toWire<unknown>(one)]));
}

type WithoutNulls<T> = T extends readonly (infer E)[]
  ? WithoutNulls<E>[]
  : T extends object
    ? { [K in keyof T]: WithoutNulls<T[K]> }
    : NonNullable<T>;

/**
 * Facts of a message. Unknown values are empty texts, 0 and false (unless valid values of the
 * fact), and missing parts.
 * @throws ZodError for impossible values of a foreign node, such as control characters
 */
export function fromWire<T extends z.ZodType>(schema: T, message: object | null): z.infer<T> {
  return schema.parse(known(schema, message));
}

function known(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodObject) {
    const fields = Object(value) as Record<string, unknown>;
    const keys = Object.entries(schema.shape);
    return Object.fromEntries(keys.map(([key, one]) => [key, known(one, fields[key])]));
  }
  if (schema instanceof z.ZodArray) {
    return Array.isArray(value) ? value.map((one) => known(schema.element, one)) : [];
  }
  if (value === '' || value === undefined) return null;
  const isUnset = value === 0 || value === false;
  return isUnset && !(schema as z.ZodType).safeParse(value).success ? null : value;
}
