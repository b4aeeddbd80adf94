import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { descriptorSetFile, protoFolder } from '../../../shared/base/files/package-files.ts';
import { fieldLine, linesIn, methodLine, withoutDot } from '../../scenes/sut-node/proto-lines.ts';

// Goal: the descriptors that are committed (there is no protoc where the tests run) say what the .proto files
// say. Method: both as sorted lines of text, one per field, enum value and method; the files are read by
// protobufjs, the set by protoc's own descriptor.proto.

const require = createRequire(import.meta.url);
const packageFolder = (name: string): string => dirname(require.resolve(`${name}/package.json`));
const reflectionProtos = join(packageFolder('@grpc/reflection'), 'build', 'proto');

/** File in the set → folder of its source. */
const FILES: Readonly<Record<string, string>> = {
  'mlperf/network/v1/sut.proto': protoFolder(),
  'inference/open_inference.proto': protoFolder(),
  'health/v1/health.proto': join(packageFolder('grpc-health-check'), 'proto'),
  'grpc/reflection/v1/reflection.proto': reflectionProtos,
  'grpc/reflection/v1alpha/reflection.proto': reflectionProtos,
};

interface FieldDescriptor {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
}

interface EnumDescriptor {
  readonly name: string;
  readonly value: readonly { readonly name: string; readonly number: number }[];
}

interface MessageDescriptor {
  readonly name: string;
  readonly field?: readonly FieldDescriptor[];
  readonly nestedType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly oneofDecl?: readonly { readonly name: string }[];
  readonly options?: { readonly mapEntry?: boolean };
}

interface FileDescriptor {
  readonly name: string;
  readonly package: string;
  readonly syntax: string;
  readonly messageType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly service?: readonly {
    readonly name: string;
    readonly method: readonly {
      readonly name: string;
      readonly inputType: string;
      readonly outputType: string;
      readonly clientStreaming?: boolean;
      readonly serverStreaming?: boolean;
    }[];
  }[];
}

/** The committed set as plain objects. */
function committedFiles(): readonly FileDescriptor[] {
  const schema = join(packageFolder('protobufjs'), 'google', 'protobuf', 'descriptor.proto');
  const type = protobuf.loadSync(schema).lookupType('google.protobuf.FileDescriptorSet');
  const set = type.toObject(type.decode(readFileSync(descriptorSetFile())), { enums: String });
  return set['file'] as FileDescriptor[];
}

function committedLines(file: FileDescriptor): string[] {
  const { messageType = [], enumType = [], service = [] } = file;
  const methods = service.flatMap(({ name, method }) =>
    method.map((one) =>
      methodLine(`${file.package}.${name}.${one.name}`, one.inputType, one.outputType, [
        one.clientStreaming === true,
        one.serverStreaming === true,
      ]),
    ),
  );
  return [
    ...messageType.flatMap((one) => committedMessage(file.package, one)),
    ...enumType.flatMap((one) => committedEnum(file.package, one)),
    ...methods,
  ].sort();
}

function committedEnum(scope: string, { name, value }: EnumDescriptor): string[] {
  return value.map((one) => `enum ${scope}.${name}: ${one.name} = ${one.number}`);
}

function committedMessage(scope: string, message: MessageDescriptor): string[] {
  const path = `${scope}.${message.name}`;
  const { field = [], nestedType = [], enumType = [] } = message;
  const isMap = ({ options }: MessageDescriptor): boolean => options?.mapEntry === true;
  return [
    `message ${path}`,
    ...field.map((one) => committedField(path, one, message)),
    ...nestedType.filter((one) => !isMap(one)).flatMap((one) => committedMessage(path, one)),
    ...enumType.flatMap((one) => committedEnum(path, one)),
  ];
}

function committedField(path: string, field: FieldDescriptor, message: MessageDescriptor): string {
  const type = typeOf(field);
  const entry = message.nestedType?.find(
    ({ name, options }) => options?.mapEntry === true && type === `${path}.${name}`,
  );
  const [key, value] = (entry?.field ?? []).map(typeOf);
  const isOptional = field.proto3Optional === true;
  return fieldLine(path, field, {
    type: entry === undefined ? type : `map<${key}, ${value}>`,
    isRepeated: entry === undefined && field.label === 'LABEL_REPEATED',
    isOptional,
    oneof: isOptional ? undefined : message.oneofDecl?.[field.oneofIndex ?? -1]?.name,
  });
}

function typeOf({ type, typeName }: FieldDescriptor): string {
  return typeName === undefined ? type.slice('TYPE_'.length).toLowerCase() : withoutDot(typeName);
}

function sourceLines(name: string, folder: string): string[] {
  const root = new protobuf.Root();
  root.loadSync(join(folder, name), { keepCase: true });
  return linesIn(root);
}

describe('the committed descriptor set', () => {
  const committed = committedFiles();

  it('holds the files that the node serves and no other', () => {
    expect(committed.map(({ name }) => name).sort()).toEqual(Object.keys(FILES).sort());
    expect(committed.map(({ syntax }) => syntax)).toEqual(committed.map(() => 'proto3'));
  });

  it.each(Object.entries(FILES))('says what %s says', (name, folder) => {
    const file = committed.find((one) => one.name === name);
    const expected = sourceLines(name, folder);
    expect(expected.length).toBeGreaterThan(10);
    expect(file === undefined ? [] : committedLines(file)).toEqual(expected);
  });

  it('has what strict clients need: real map entries and optional fields', () => {
    const sut = committed.find(({ package: name }) => name === 'mlperf.network.v1');
    const lines = sut === undefined ? [] : committedLines(sut);
    const sutField = 'field mlperf.network.v1';
    expect(lines).toContain(`${sutField}.DescribeResponse.settings = 10: map<string, string>`);
    expect(lines).toContain(`${sutField}.Completed.token_count = 4: optional sint64`);
  });
});
