/** Tags (field number << 3 | wire type) of the fields of Part in sut.proto. */
export const PART = {
  query: 0x08,
  querySampleCount: 0x10,
  samples: 0x1a,
  queryPayload: 0x22,
  queryEncoding: 0x28,
  querySampleBytes: 0x30,
  /** The same, packed: a reader must take both. */
  querySampleBytesPacked: 0x32,
} as const;

/** Tags of the fields of Sample in sut.proto. */
export const SAMPLE = {
  id: 0x08,
  payload: 0x12,
  encoding: 0x18,
  offset: 0x20,
  total: 0x28,
} as const;
