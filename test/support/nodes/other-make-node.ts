import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { suiteFolder } from '../../scenes/host/folders.ts';

type Message = Record<string, unknown>;
type Unary = (call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) => void;
type Stream = ServerDuplexStream<Message, Message>;
type Infer = (stream: Stream) => void;

interface Part {
  readonly samples: readonly { readonly id: number; readonly payload: Buffer }[];
}

/** The service as its .proto file says, loaded from a file of that name in `folder`. */
function serviceOf(folder: string): ServiceDefinition {
  const definition = loadSync('mlperf/network/v1/sut.proto', {
    includeDirs: [folder],
    longs: Number,
    oneofs: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    mlperf: { network: { v1: { SystemUnderTest: { service: ServiceDefinition } } } };
  };
  return loaded.mlperf.network.v1.SystemUnderTest.service;
}

const PROTO_FOLDER = fileURLToPath(new URL('../../../proto', import.meta.url));

/** The protocol of a later day: fields and a message that nobody knows yet, everywhere. */
function laterProtoFolder(): string {
  const folder = suiteFolder();
  const path = join('mlperf', 'network', 'v1', 'sut.proto');
  mkdirSync(join(folder, 'mlperf', 'network', 'v1'), { recursive: true });
  const text = readFileSync(join(PROTO_FOLDER, path), 'utf8')
    .replaceAll(
      /(message (?:NameResponse|DescribeResponse|Opened|Responses|Completed) \{)/g,
      '$1 Later later = 99;',
    )
    .replace('    Draining draining = 4;', '    Draining draining = 4; Later later = 15;')
    .replace('message SutMessage {', 'message SutMessage { Later beside = 16;');
  writeFileSync(join(folder, path), `${text}\nmessage Later { string text = 1; }\n`);
  return folder;
}

/** What differs from a node that has just Name and Infer. */
interface Parts {
  /** Name that is given for call `count`, from 1; undefined: the node dies. */
  readonly nameOf?: (count: number) => string | undefined;
  readonly describe?: Message;
  readonly ledger?: Message;
  /** Speaks a later protocol, and uses everything that is new in it. */
  readonly isLater?: boolean;
}

/**
 * A SUT node as somebody else would write it, with nothing of longhaul but the .proto file: Name and
 * Infer, no identity, no Ready; Describe and Ledger only where a test gives them.
 */
export class OtherMakeNode {
  readonly #server = new Server();
  address = '';
  nameCount = 0;
  /** Open as the node got it. */
  open: Message | undefined;

  static async start(parts: Parts = {}): Promise<OtherMakeNode> {
    const node = new OtherMakeNode();
    const { describe, ledger, isLater = false } = parts;
    const infer: Infer = (stream) => node.#infer(stream, parts);
    const name: Unary = (call, callback) => node.#name(call, callback, parts);
    const tell: Unary = (_call, callback) => callback(null, describe);
    const count: Unary = (_call, callback) => callback(null, ledger);
    const optional = {
      ...(describe === undefined ? {} : { Describe: tell }),
      ...(ledger === undefined ? {} : { Ledger: count }),
    };
    const methods = { Name: name, Infer: infer, ...optional };
    node.#server.addService(serviceOf(isLater ? laterProtoFolder() : PROTO_FOLDER), methods);
    const port = await new Promise<number>((resolve, reject) => {
      node.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    node.address = `127.0.0.1:${port}`;
    return node;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #name(
    call: ServerUnaryCall<Message, Message>,
    callback: sendUnaryData<Message>,
    { nameOf = () => 'other' }: Parts,
  ): void {
    this.nameCount += 1;
    const name = nameOf(this.nameCount);
    if (name !== undefined) {
      callback(null, { name, nonce: call.request['nonce'], later: LATER });
      return;
    }
    this.stop();
    callback({ code: status.UNAVAILABLE, details: 'the node is gone' });
  }

  #infer(stream: Stream, { isLater = false }: Parts): void {
    stream.on('error', () => {});
    stream.on('data', (message: { open?: Message; part?: Part; close?: Message }) => {
      if (message.open !== undefined) {
        this.open = message.open;
        const credit = { samples: 1_000_000_000, bytes: 2 ** 40 };
        stream.write({ opened: { protocolVersion: 1, encodings: [0], credit, later: LATER } });
      }
      if (message.part !== undefined) {
        const completed = message.part.samples.map(({ id }) => ({
          id,
          payload: Buffer.alloc(4),
          later: LATER,
        }));
        stream.write({ responses: { completed, later: LATER }, beside: LATER });
        if (isLater) stream.write({ later: LATER });
      }
      if (message.close !== undefined) stream.end();
    });
  }
}

/** Left out by a node whose protocol does not know it. */
const LATER = { text: 'news' };
