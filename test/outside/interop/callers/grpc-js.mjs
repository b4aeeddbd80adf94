// The client of core.py on grpc-js: the same options, the same lines.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Client, credentials, status } from '@grpc/grpc-js';

const [address, ca] = process.argv.slice(2);
const options = { 'grpc.use_local_subchannel_pool': 1 };
const client =
  ca === undefined
    ? new Client(address, credentials.createInsecure(), options)
    : new Client(address, credentials.createSsl(readFileSync(ca)), {
        ...options,
        'grpc.ssl_target_name_override': 'sut.test',
      });
const raw = (bytes) => bytes;

function askOnce(path, message) {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + 30_000;
    client.makeUnaryRequest(path, raw, raw, message, { deadline }, (error, answer) => {
      if (error === null) resolve(answer.toString('hex'));
      else reject(error);
    });
  });
}

let stream;
/** Messages of the stream; its last word is undefined, or an error. */
const came = [];
let onCame = () => {};

function open(path) {
  const add = (what) => {
    came.push(what);
    onCame();
  };
  stream = client.makeBidiStreamRequest(path, raw, raw);
  stream.on('data', add);
  stream.on('error', add);
  stream.on('end', () => add(undefined));
}

async function receive() {
  while (came.length === 0) await new Promise((resolve) => (onCame = resolve));
  const what = came.shift();
  if (what instanceof Error) throw what;
  return what === undefined ? [] : [what.toString('hex')];
}

async function obey({ do: what, path, message = '', times }) {
  const bytes = Buffer.from(message, 'hex');
  if (what === 'ask') {
    return await Promise.all(Array.from({ length: times }, () => askOnce(path, bytes)));
  }
  if (what === 'receive') return await receive();
  if (what === 'open') open(path);
  else if (what === 'send') stream.write(bytes);
  else stream.end();
  return [];
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await obey(JSON.parse(line)).then(
    (messages) => ({ messages }),
    (error) => ({ error: `${status[error.code]}: ${error.details}` }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit();
