import assert from 'node:assert';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  loadPackageDefinition,
  type MethodDefinition,
  type ServiceClientConstructor,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { protoFolder } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';

/** A message as an object with the names of the .proto file in camelCase. */
export type Message = Record<string, unknown>;

const PROTO = join('mlperf', 'network', 'v1', 'sut.proto');
const PACKAGE = 'mlperf.network.v1';

/** What a peer of before did not have: calls, and fields by message. */
const LATER_CALLS = ['DescribeSystem', 'TestLink'];
const LATER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  DescribeResponse: ['features', 'settings', 'limits'],
  ModelDescription: ['is_stand_in'],
  LedgerResponse: ['payload_digest', 'digested_sample_count', 'encodings', 'stream_count'],
  Open: ['features', 'digest_per_million', 'stream_index', 'token_latencies'],
  Opened: ['features', 'limits'],
  Completed: ['token_count', 'durations', 'offset', 'total'],
  Responses: ['first_tokens'],
};

/** What a peer of a later day has everywhere. */
const NEWS_NUMBER = 900;
const NEWS: Message = { text: 'news', numbers: [1, 2 ** 40], inner: { text: 'more' } };

/** The protocol as another build of the software has it: its own .proto text, its own messages on the wire. */
export class ProtoBuild {
  readonly service: ServiceDefinition;
  readonly Client: ServiceClientConstructor;
  readonly #root: protobuf.Root;
  readonly #isLater: boolean;

  private constructor(text: string, isLater: boolean) {
    const folder = suiteFolder();
    mkdirSync(dirname(join(folder, PROTO)), { recursive: true });
    writeFileSync(join(folder, PROTO), text);
    const options = { longs: Number, enums: String, defaults: true, arrays: true, oneofs: true };
    const loaded = loadPackageDefinition(loadSync(PROTO, { includeDirs: [folder], ...options }));
    const { v1 } = (loaded as unknown as Loaded).mlperf.network;
    this.Client = v1.SystemUnderTest;
    this.service = v1.SystemUnderTest.service;
    this.#root = protobuf.parse(text).root;
    this.#root.resolveAll();
    this.#isLater = isLater;
    if (isLater) this.#sendNews();
  }

  /** A build of before: without the calls and fields that came later. */
  static older(): ProtoBuild {
    let text = protoText();
    for (const call of LATER_CALLS)
      text = without(text, new RegExp(`^ *rpc ${call}\\(.*;\\n`, 'm'));
    for (const [message, fields] of Object.entries(LATER_FIELDS)) {
      for (const field of fields) text = withoutField(text, message, field);
    }
    return new ProtoBuild(text, false);
  }

  /** A build of a later day: a field in every message, values in enums, members of the streams' messages, a call. It sends them. */
  static later(): ProtoBuild {
    let text = protoText()
      .replaceAll(/^message (\w+) \{\}$/gm, 'message $1 {\n}')
      .replaceAll(/^(message \w+ \{)$/gm, `$1\n  News news = ${NEWS_NUMBER};`);
    for (const [message, number] of [
      ['LoadGenMessage', 901],
      ['SutMessage', 901],
    ] as const) {
      text = changed(
        text,
        new RegExp(`(message ${message} \\{[^}]*?oneof message \\{)`),
        `$1\n    News hint = ${number};`,
      );
    }
    for (const name of ['NodeState', 'FailureCode', 'Division']) {
      const prefix = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
      text = changed(text, new RegExp(`(enum ${name} \\{)`), `$1\n  ${prefix}_LATER = 99;`);
      // The first value of an enum has to be its 0.
      text = changed(
        text,
        new RegExp(`(  ${prefix}_LATER = 99;\\n)(  ${prefix}_UNSPECIFIED = 0;\\n)`),
        '$2$1',
      );
    }
    text = changed(
      text,
      /(service SystemUnderTest \{)/,
      '$1\n  rpc Teleport(NameRequest) returns (NameResponse);',
    );
    const news =
      'message News {\n  string text = 1;\n  repeated uint64 numbers = 2;\n  News inner = 3;\n}\n';
    return new ProtoBuild(`${text}\n${news}`, true);
  }

  /** Whether its messages have a field: whatever is tested of it means something only then. */
  hasField(message: string, field: string): boolean {
    return Object.hasOwn(this.#root.lookupType(`${PACKAGE}.${message}`).fields, field);
  }

  /** Puts news into a message and into every message in it, as a peer that uses all that it knows. */
  #withNews(type: protobuf.Type, message: Message): Message {
    const all: Message = { ...message };
    for (const field of type.fieldsArray) {
      const value = all[field.name];
      const inner = field.resolvedType;
      if (!(inner instanceof protobuf.Type) || inner.name === 'News') continue;
      if (Array.isArray(value))
        all[field.name] = value.map((one) => this.#withNews(inner, one as Message));
      else if (value !== undefined && value !== null)
        all[field.name] = this.#withNews(inner, value as Message);
    }
    return { ...all, news: NEWS };
  }

  #sendNews(): void {
    const types = this.#root.lookupService(`${PACKAGE}.SystemUnderTest`).methods;
    for (const [name, method] of Object.entries(this.service)) {
      const { resolvedRequestType, resolvedResponseType } = types[name] ?? {};
      const mutable = method as {
        -readonly [K in keyof MethodDefinition<Message, Message>]: MethodDefinition<
          Message,
          Message
        >[K];
      };
      assert(resolvedRequestType && resolvedResponseType);
      const { requestSerialize, responseSerialize } = mutable;
      mutable.requestSerialize = (message) =>
        requestSerialize(this.#withNews(resolvedRequestType, message));
      mutable.responseSerialize = (message) =>
        responseSerialize(this.#withNews(resolvedResponseType, message));
    }
    assert(this.#isLater);
  }
}

interface Loaded {
  readonly mlperf: {
    readonly network: { readonly v1: { readonly SystemUnderTest: ServiceClientConstructor } };
  };
}

function protoText(): string {
  return readFileSync(join(protoFolder(), PROTO), 'utf8');
}

/** A change that finds nothing would test nothing. */
function changed(text: string, pattern: RegExp, replacement: string): string {
  assert.match(text, pattern);
  return text.replace(pattern, replacement);
}

function without(text: string, pattern: RegExp): string {
  return changed(text, pattern, '');
}

function withoutField(text: string, message: string, field: string): string {
  const pattern = new RegExp(
    `(^message ${message} \\{\\n(?:(?!^\\}).*\\n)*?)^  [^/\\n]* ${field} = \\d+;\\n`,
    'm',
  );
  return changed(text, pattern, '$1');
}
