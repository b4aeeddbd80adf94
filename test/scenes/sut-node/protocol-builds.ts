import { join } from 'node:path';
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { protoFolder } from '../../../shared/base/files/package-files.ts';

/** A message as an object with the names of the .proto file in camelCase. */
export type Message = Record<string, unknown>;

/** The protocol as one build of the software has it: its own messages on the wire. */
export interface ProtocolBuild {
  readonly root: protobuf.Root;
  readonly Client: ServiceClientConstructor;
}

const PACKAGE = 'mlperf.network.v1';

/** Calls and fields that an older peer does not have. */
const LATER_CALLS = ['DescribeSystem', 'TestLink'];
const LATER_FIELDS = {
  DescribeResponse: ['features', 'settings', 'limits'],
  ModelDescription: ['isStandIn'],
  LedgerResponse: ['payloadDigest', 'digestedSampleCount', 'encodings', 'streamCount'],
  Open: ['features', 'digestPerMillion', 'streamIndex', 'tokenLatencies'],
  Opened: ['features', 'limits'],
  Completed: ['tokenCount', 'durations', 'offset', 'total'],
  Responses: ['firstTokens'],
  SutMessage: ['usage'],
};

/** Content of the field that a later peer has in every message. */
const NEWS: Message = { text: 'news', numbers: [1, 2 ** 40], inner: { text: 'more' } };

/** Today's protocol. */
export function ownBuild(): ProtocolBuild {
  return buildOf(ownRoot());
}

/** An older build: without the calls and fields that came later. */
export function olderBuild(): ProtocolBuild {
  const root = ownRoot();
  const service = root.lookupService(`${PACKAGE}.SystemUnderTest`);
  for (const call of LATER_CALLS) service.remove(service.get(call) as protobuf.Method);
  for (const [name, fields] of Object.entries(LATER_FIELDS)) {
    const type = root.lookupType(`${PACKAGE}.${name}`);
    for (const field of fields) type.remove(type.get(field) as protobuf.Field);
  }
  return buildOf(root);
}

/**
 * A later build: a field in every message, a value in enums, a member of the streams' messages, a
 * call. Its peers send the field in all that they send.
 */
export function laterBuild(): ProtocolBuild {
  const root = ownRoot();
  const scope = root.lookup(PACKAGE) as protobuf.Namespace;
  for (const type of scope.nestedArray) {
    if (type instanceof protobuf.Type) type.add(new protobuf.Field('news', 900, 'News'));
  }
  for (const name of ['LoadGenMessage', 'SutMessage']) {
    const hint = new protobuf.Field('hint', 901, 'News');
    scope.lookupType(name).add(hint);
    scope.lookupType(name).oneofs['message']?.add(hint);
  }
  for (const [name, value] of [
    ['NodeState', 'NODE_STATE_LATER'],
    ['FailureCode', 'FAILURE_CODE_LATER'],
    ['Division', 'DIVISION_LATER'],
  ] as const) {
    scope.lookupEnum(name).add(value, 99);
  }
  const teleport = new protobuf.Method('Teleport', 'rpc', 'NameRequest', 'NameResponse');
  scope.lookupService('SystemUnderTest').add(teleport);
  const news = new protobuf.Type('News')
    .add(new protobuf.Field('text', 1, 'string'))
    .add(new protobuf.Field('numbers', 2, 'uint64', 'repeated'))
    .add(new protobuf.Field('inner', 3, 'News'));
  scope.add(news);
  const build = buildOf(root);
  sendNews(build);
  return build;
}

function ownRoot(): protobuf.Root {
  return protobuf.loadSync(join(protoFolder(), 'mlperf/network/v1/sut.proto'));
}

function buildOf(root: protobuf.Root): ProtocolBuild {
  root.resolveAll();
  const options = { longs: Number, enums: String, defaults: true, arrays: true, oneofs: true };
  const { mlperf } = loadPackageDefinition(fromJSON(root.toJSON(), options)) as unknown as Loaded;
  return { root, Client: mlperf.network.v1.SystemUnderTest };
}

interface Loaded {
  readonly mlperf: {
    readonly network: { readonly v1: { readonly SystemUnderTest: ServiceClientConstructor } };
  };
}

function sendNews({ root, Client }: ProtocolBuild): void {
  const { methods } = root.lookupService(`${PACKAGE}.SystemUnderTest`);
  for (const [name, definition] of Object.entries(Client.service)) {
    const { resolvedRequestType, resolvedResponseType } = methods[name] as protobuf.Method;
    const { requestSerialize, responseSerialize } = definition;
    Object.assign(definition, {
      requestSerialize: (message: Message) =>
        requestSerialize(withNews(resolvedRequestType as protobuf.Type, message)),
      responseSerialize: (message: Message) =>
        responseSerialize(withNews(resolvedResponseType as protobuf.Type, message)),
    });
  }
}

/** Puts news into a message and into every message in it. */
function withNews(type: protobuf.Type, message: Message): Message {
  const all: Message = { ...message, news: NEWS };
  for (const { name, resolvedType } of type.fieldsArray) {
    const value = message[name];
    if (!(resolvedType instanceof protobuf.Type) || resolvedType.name === 'News') continue;
    if (Array.isArray(value)) all[name] = value.map((one) => withNews(resolvedType, one));
    else if (value !== undefined && value !== null)
      all[name] = withNews(resolvedType, value as Message);
  }
  return all;
}
