/** Number types of tokens in an accuracy log, little-endian. */
export const TOKEN_TYPES = ['int64', 'int32', 'int16', 'float32'] as const;

/** One of {@link TOKEN_TYPES}. */
export type TokenType = (typeof TOKEN_TYPES)[number];

/** Bytes per token, and how to read one. Token ids are far below 2^53. */
const READERS: Readonly<
  Record<TokenType, readonly [bytes: number, read: (view: DataView, offset: number) => number]>
> = {
  int64: [8, (view, offset) => Number(view.getBigInt64(offset, true))],
  int32: [4, (view, offset) => view.getInt32(offset, true)],
  int16: [2, (view, offset) => view.getInt16(offset, true)],
  float32: [4, (view, offset) => view.getFloat32(offset, true)],
};

/** The tokens of a response; undefined if its length is not a multiple of the type's size. */
export function readTokens(bytes: Uint8Array, type: TokenType): number[] | undefined {
  const [size, read] = READERS[type];
  if (bytes.length % size !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / size }, (_, i) => read(view, i * size));
}
