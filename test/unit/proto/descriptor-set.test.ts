import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';
import { describe, expect, it } from 'vitest';
import { descriptorSetFile, protoFolder } from '../../../shared/base/files/package-files.ts';
import { linesIn } from '../../scenes/sut-node/proto-lines.ts';

// Goal: the descriptors that are committed (there is no protoc where the tests run) say what the
// .proto files say. Method: both as sorted lines of text, one per field, enum value and method,
// read by protobufjs.

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

/** The committed set. */
const FILES_OF_SET = descriptor.FileDescriptorSet.decode(readFileSync(descriptorSetFile()))[
  'file'
] as descriptor.IFileDescriptorProto[];

/** Lines of one file of the set; what it imports does not count. */
function committedLines(name: string): string[] {
  const file = FILES_OF_SET.filter((one) => one.name === name);
  return linesIn(protobuf.Root.fromDescriptor({ file }, { keepCase: true }));
}

function sourceLines(name: string, folder: string): string[] {
  const root = new protobuf.Root();
  root.loadSync(join(folder, name), { keepCase: true });
  return linesIn(root);
}

describe('the committed descriptor set', () => {
  it('holds the files that the node serves and no other', () => {
    expect(FILES_OF_SET.map(({ name }) => name).sort()).toEqual(Object.keys(FILES).sort());
    expect(FILES_OF_SET.map(({ syntax }) => syntax)).toEqual(FILES_OF_SET.map(() => 'proto3'));
  });

  it.each(Object.entries(FILES))('says what %s says', (name, folder) => {
    const expected = sourceLines(name, folder);
    expect(expected.length).toBeGreaterThan(10);
    expect(committedLines(name)).toEqual(expected);
  });

  it('has what strict clients need: real map entries and optional fields', () => {
    const lines = committedLines('mlperf/network/v1/sut.proto');
    const sutField = 'field mlperf.network.v1';
    expect(lines).toContain(`${sutField}.DescribeResponse.settings = 10: map<string, string>`);
    expect(lines).toContain(`${sutField}.Completed.token_count = 4: optional sint64`);
  });
});
