import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { descriptorSetFile, protoFolder } from '../../../shared/process/package-files.ts';

// Goal: the descriptors that are committed (there is no protoc where the tests run) say what the .proto files
// say. Method: both as sorted lines of text, one per field, enum value and method; the files are read by
// protobufjs, the set by protoc's own descriptor.proto.

const require = createRequire(import.meta.url);
const packageFolder = (name: string): string => dirname(require.resolve(`${name}/package.json`));
const reflectionProtos = join(packageFolder('@grpc/reflection'), 'build', 'proto');

/** File in the set → folder of its source. */
const FILES: Readonly<Record<string, string>> = {
  'mlperf/network/v1/sut.proto': protoFolder(),
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

const withoutDot = (name: string): string => name.replace(/^\./, '');

function methodLine(name: string, from: string, to: string, streams: readonly boolean[]): string {
  const [client, server] = streams.map((isStream) => (isStream ? 'stream ' : ''));
  return `rpc ${name}(${client}${withoutDot(from)}) returns (${server}${withoutDot(to)})`;
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

function fieldLine(
  path: string,
  { name, number }: { readonly name: string; readonly number: number },
  rest: {
    readonly type: string;
    readonly isRepeated: boolean;
    readonly isOptional: boolean;
    readonly oneof: string | undefined;
  },
): string {
  const label = rest.isRepeated ? 'repeated ' : rest.isOptional ? 'optional ' : '';
  const oneof = rest.oneof === undefined ? '' : ` in ${rest.oneof}`;
  return `field ${path}.${name} = ${number}: ${label}${rest.type}${oneof}`;
}

function sourceLines(name: string, folder: string): string[] {
  const root = new protobuf.Root();
  root.loadSync(join(folder, name), { keepCase: true });
  root.resolveAll();
  return allIn(root).flatMap(linesOf).sort();
}

function allIn(object: protobuf.ReflectionObject): protobuf.ReflectionObject[] {
  const nested = object instanceof protobuf.Namespace ? object.nestedArray : [];
  return [object, ...nested.flatMap(allIn)];
}

function linesOf(object: protobuf.ReflectionObject): string[] {
  const path = withoutDot(object.fullName);
  if (object instanceof protobuf.Enum) {
    return Object.entries(object.values).map(([key, number]) => `enum ${path}: ${key} = ${number}`);
  }
  if (object instanceof protobuf.Service) return object.methodsArray.map(sourceMethod);
  if (!(object instanceof protobuf.Type)) return [];
  return [`message ${path}`, ...object.fieldsArray.map((field) => sourceField(path, field))];
}

const nameOf = (type: protobuf.ReflectionObject | null, plain: string): string =>
  type === null ? plain : type.fullName;

function sourceMethod(method: protobuf.Method): string {
  const from = nameOf(method.resolvedRequestType, method.requestType);
  const to = nameOf(method.resolvedResponseType, method.responseType);
  const streams = [method.requestStream === true, method.responseStream === true];
  return methodLine(withoutDot(method.fullName), from, to, streams);
}

function sourceField(path: string, field: protobuf.Field): string {
  const type = withoutDot(nameOf(field.resolvedType, field.type));
  const isOptional = field.options?.['proto3_optional'] === true;
  return fieldLine(
    path,
    { name: field.name, number: field.id },
    {
      type: field instanceof protobuf.MapField ? `map<${field.keyType}, ${type}>` : type,
      isRepeated: field.repeated,
      isOptional,
      oneof: isOptional ? undefined : field.partOf?.name,
    },
  );
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
