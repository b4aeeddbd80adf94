import fc from 'fast-check';
import protobuf from 'protobufjs';

const ROOT = protobuf.loadSync('proto/mlperf/network/v1/sut.proto');

/** Numbers at the ends of what a field can hold, and between. */
const UINT64 = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.constantFrom(0n, 2n ** 53n, 2n ** 64n - 1n),
  )
  .map(String);
const TEXT = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'digits'));

const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uint64: UINT64,
  fixed64: UINT64,
  uint32: fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constant(2 ** 32 - 1)),
  double: fc.double(),
  bool: fc.boolean(),
  string: TEXT,
  bytes: fc.uint8Array({ maxLength: 70 }),
};

function anyField(field: protobuf.Field): fc.Arbitrary<unknown> {
  field.resolve();
  const { resolvedType } = field;
  const scalar = SCALARS[field.type];
  let one: fc.Arbitrary<unknown>;
  if (resolvedType instanceof protobuf.Type) one = anyFields(resolvedType);
  else if (resolvedType !== null) one = fc.integer({ min: 0, max: 9 });
  else if (scalar !== undefined) one = scalar;
  else throw new Error(`no values for ${field.type}`);
  if (field instanceof protobuf.MapField) return fc.dictionary(TEXT, one, { maxKeys: 4 });
  return field.repeated ? fc.array(one, { maxLength: 4 }) : one;
}

function anyFields(type: protobuf.Type): fc.Arbitrary<Record<string, unknown>> {
  const fields = type.fieldsArray.map((field) => [field.name, anyField(field)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

/** Bytes of any message of a type of sut.proto: each field absent, or with whatever it can hold. */
export function anyMessage(name: string): fc.Arbitrary<Buffer> {
  const type = ROOT.lookupType(`mlperf.network.v1.${name}`);
  return anyFields(type).map((fields) =>
    Buffer.from(type.encode(type.fromObject(fields)).finish()),
  );
}

/** A message that holds just these bytes, as an embedded message. @param number Of the field. */
export function inField(number: number, bytes: Uint8Array): Buffer {
  const writer = protobuf.Writer.create().uint32((number << 3) | 2);
  return Buffer.from(writer.bytes(bytes).finish());
}
