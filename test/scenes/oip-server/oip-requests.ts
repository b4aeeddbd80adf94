import fc from 'fast-check';
import { encodeRequest } from './oip-messages.ts';

/** A request as protobufjs takes it, for a model whose outputs are its inputs. */
interface MadeRequest {
  readonly modelName: string;
  readonly modelVersion?: string;
  readonly id: string;
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly number[];
    readonly contents?: object;
  }[];
  readonly outputs?: readonly { readonly name: string }[];
  readonly rawInputContents: readonly Uint8Array[];
}

/** A request in bytes. */
export interface FuzzedRequest {
  readonly bytes: Buffer;
  /**
   * Set where the request is right: then it must have this answer, raw, an output behind the other.
   */
  readonly expected: Buffer | undefined;
}

const id = fc.string({ maxLength: 6 });

/** Bytes of one free axis, raw or typed, for a model with the input "input". */
const oneInput: fc.Arbitrary<MadeRequest> = fc
  .record({ id, rows: fc.integer({ min: 1, max: 4 }), columns: fc.nat(9), isTyped: fc.boolean() })
  .chain(({ rows, columns, isTyped, ...named }) =>
    fc
      .uint8Array({ minLength: rows * columns, maxLength: rows * columns })
      .map((raw): MadeRequest => {
        const tensor = { name: 'input', datatype: 'UINT8', shape: [rows, columns] };
        const contents = { uintContents: [...raw] };
        return {
          modelName: '',
          ...named,
          inputs: [isTyped ? { ...tensor, contents } : tensor],
          rawInputContents: isTyped ? [] : [raw],
        };
      }),
  );

type Change = (made: MadeRequest) => MadeRequest;

const changeInput =
  (parts: object): Change =>
  (made) => ({ ...made, inputs: made.inputs.map((one) => ({ ...one, ...parts })) });

/** Ways to be wrong, most of them; some keep a request right. */
const CHANGES: readonly Change[] = [
  changeInput({ shape: [-1, 4] }),
  changeInput({ shape: [2 ** 31, 2 ** 31] }),
  changeInput({ shape: [] }),
  changeInput({ shape: [65_536, 0] }),
  changeInput({ shape: [1, 2, 3] }),
  changeInput({ datatype: 'FP16' }),
  changeInput({ datatype: 'BYTES' }),
  changeInput({ name: 'other' }),
  changeInput({ contents: { int64Contents: [1, 2] } }),
  changeInput({ contents: { fp32Contents: [1] } }),
  (made) => ({ ...made, modelName: 'other' }),
  (made) => ({ ...made, modelVersion: '7' }),
  (made) => ({ ...made, inputs: [] }),
  (made) => ({ ...made, inputs: [...made.inputs, ...made.inputs] }),
  (made) => ({ ...made, rawInputContents: [] }),
  (made) => ({ ...made, rawInputContents: [...made.rawInputContents, Buffer.alloc(3)] }),
  (made) => ({ ...made, rawInputContents: [Buffer.alloc(700)] }),
  (made) => ({ ...made, outputs: [{ name: 'nothing' }] }),
  (made) => ({ ...made, outputs: [{ name: 'output' }, { name: 'output' }] }),
];

const garbage = fc
  .uint8Array({ maxLength: 80 })
  .map((bytes): FuzzedRequest => ({ bytes: Buffer.from(bytes), expected: undefined }));

/** Any request for a model of that name: right, wrong in one way, damaged, or no request at all. */
export function anyRequest(modelName: string): fc.Arbitrary<FuzzedRequest> {
  const named = oneInput.map((made) => ({ ...made, modelName }));
  const right = named.map(
    (made): FuzzedRequest => ({ bytes: encodeRequest(made), expected: rawOf(made) }),
  );
  const wrong = fc.tuple(named, fc.constantFrom(...CHANGES)).map(
    ([made, change]): FuzzedRequest => ({
      bytes: encodeRequest(change(made)),
      expected: undefined,
    }),
  );
  const damaged = fc
    .tuple(
      named,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
      fc.nat(8),
      fc.uint8Array({ maxLength: 3 }),
    )
    .map(([made, changes, cut, added]): FuzzedRequest => {
      const whole = encodeRequest(made);
      const bytes = Buffer.concat([whole.subarray(0, Math.max(0, whole.length - cut)), added]);
      for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value;
      return { bytes, expected: undefined };
    });
  return fc.oneof(right, wrong, damaged, garbage);
}

function rawOf({ inputs, rawInputContents }: MadeRequest): Buffer {
  const typed = inputs.flatMap(
    ({ contents }) => (contents as { uintContents?: number[] } | undefined)?.uintContents ?? [],
  );
  return Buffer.concat([...rawInputContents, Buffer.from(typed)]);
}
