import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import { freePort } from '../../scenes/host/ports.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import {
  type FakeModel,
  fakeOipServers,
  type OipBehaviour,
} from '../../scenes/oip-server/fake-oip-server.ts';

// Goal: what a server has is shown as it is, and the run that is proposed is one that works when it
// is pasted. Method: servers of grpc-js and the .proto alone; the verb as it is; the proposed
// command and file given to `run`.

const IMAGE: FakeModel = {
  ...{ name: 'resnet', versions: ['1'], platform: 'onnx' },
  inputs: [{ name: 'image', datatype: 'FP32', shape: [-1, 3, 8, 8] }],
  outputs: [{ name: 'logits', datatype: 'FP32', shape: [-1, 10] }],
  config: { name: 'resnet', maxBatchSize: 16 },
};
const TEXT: FakeModel = {
  ...{ name: 'bert', versions: ['1'], platform: 'onnx' },
  inputs: [
    { name: 'ids', datatype: 'INT64', shape: [-1, -1] },
    { name: 'mask', datatype: 'INT64', shape: [-1, -1] },
  ],
  outputs: [{ name: 'logits', datatype: 'FP32', shape: [-1, 2] }],
};

/** A server of models without streams that answers zeros. @returns Its address. */
async function startServer({ models = [IMAGE], ...more }: OipBehaviour): Promise<string> {
  const server = { name: 'triton', version: '2.51.0', extensions: ['model_repository'] };
  const [{ address }] = await fakeOipServers({
    ...{ server, models, without: ['ModelStreamInfer'], ...more },
    onInfer: ({ id, modelName, inputs }, answer) => {
      const model = models.find(({ name }) => name === modelName);
      const outputs = (model?.outputs ?? []).map(({ shape = [], ...tensor }) => ({
        ...tensor,
        shape: shape.map((length, axis) =>
          Number(length) === -1 ? Number(inputs[0]?.shape[axis] ?? 1) : Number(length),
        ),
      }));
      const rawOutputContents = outputs.map(({ shape }) =>
        Buffer.alloc(shape.reduce((product, length) => product * length, 4)),
      );
      answer.respond({ modelName, id, outputs, rawOutputContents });
    },
  });
  return address;
}

/** Answer of RepositoryIndex about models that are ready. */
function indexOf(...models: readonly FakeModel[]) {
  return models.map(({ name = '' }) => ({ name, version: '1', state: 'READY' }));
}

describe('longhaul probe', () => {
  it('lists server, models and tensors, and what is not ready', async () => {
    const others = [{ name: 'broken', state: 'UNAVAILABLE', reason: 'no file' }];
    const address = await startServer({
      models: [IMAGE, TEXT],
      repository: [...indexOf(IMAGE, TEXT), ...others],
    });
    const { code, stdout } = await longhaulHere(['probe', `oip://${address}`]);
    expect(code).toBe(0);
    const text = stdout
      .replaceAll(address, 'HOST')
      .replace(/trip [\d.]+ ms/, 'trip T')
      .replaceAll(/(?:npx longhaul|node \S+|longhaul) run /g, 'longhaul run ');
    expect(text).toMatchInlineSnapshot(`
      "oip://HOST  triton 2.51.0
        state      live, ready, round trip T
        service    inference.GRPCInferenceService
        extensions model_repository
        models     3 models

      resnet  READY  version 1  onnx
        batch      16 samples in a request at most
        responses  one for a request, ModelStreamInfer: no, statistics: no
        input      image  FP32 [-1, 3, 8, 8], 768 B in a sample
        output     logits  FP32 [-1, 10], 40 B in a sample
        bandwidth  6.14 Mbit/s to the server and 320 kbit/s back at 1000 samples/s

      bert  READY  version 1  onnx
        batch      the server reports no limit; the first axis is free, and taken to count samples
        responses  one for a request, ModelStreamInfer: no, statistics: no
        input      ids  INT64 [-1, -1]
        input      mask  INT64 [-1, -1]
        output     logits  FP32 [-1, 2], 8 B in a sample
        bandwidth  unknown: axes of ids, mask are free

      broken  UNAVAILABLE  no file

      Runs with random data, with a number in place of each N:

        longhaul run --sut oip://HOST --model resnet --data random --scenario SingleStream
        longhaul run --sut oip://HOST --model bert --data random --scenario SingleStream --input-shape ids:N,mask:N

      "--model NAME" shows one of them as a configuration file, "--output FILE" writes it.
      "
    `);
  });

  it('proposes a run that works, as a command and as a file', async () => {
    const address = await startServer({ models: [IMAGE], repository: indexOf(IMAGE) });
    const folder = tempFolder();
    const file = join(folder, 'run.yaml');
    const probed = await longhaulHere(['probe', address, '--output', file, '--json']);
    expect(probed.code).toBe(0);
    const { models } = JSON.parse(probed.stdout) as { models: [{ run: { command: string } }] };
    const words = models[0].run.command.split(' ');
    const command = words.slice(words.indexOf('run'));
    const short = ['--min-duration', '200ms', '--json'];
    for (const args of [command, ['run', '--config', file]]) {
      const output = join(folder, String(args.length));
      const ended = await longhaulHere([...args, ...short, '--output', output]);
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('"VALID"') });
    }
  });

  it('leaves free axes to the user, in words that say how', async () => {
    const address = await startServer({ models: [TEXT], repository: indexOf(TEXT) });
    const file = join(tempFolder(), 'run.yaml');
    const { stdout } = await longhaulHere([
      'probe',
      `oip://${address}`,
      '--model',
      'bert',
      '--output',
      file,
    ]);
    expect(stdout).toContain('--input-shape ids:N,mask:N');
    expect(readFileSync(file, 'utf8')).toContain('# inputShape: [ids:N, mask:N]');
    const run = ['run', '--config', file];
    const unfilled = await longhaulHere(run);
    expect(unfilled).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--input-shape ids:N,mask:N'),
    });
  });

  it('asks for a model where the server does not list any', async () => {
    const address = await startServer({ models: [IMAGE] });
    const { code, stdout } = await longhaulHere(['probe', `oip://${address}`]);
    expect(code).toBe(0);
    expect(stdout).toContain('does not list its models: name one with --model NAME');
    const named = await longhaulHere(['probe', `oip://${address}`, '--model', 'resnet:1']);
    expect(named.stdout).toContain('--model resnet:1');
  });

  it.each([
    ['another package', ['--oip-service', 'org.pytorch.GRPCInferenceService'], 0, ''],
    ['the standard package', [], 4, /no service inference\.GRPCInferenceService.*--oip-service/],
  ])('asks for the service of %s', async (_case, flags, code, message) => {
    const address = await startServer({ models: [IMAGE], package: 'org.pytorch' });
    const said = await longhaulHere(['probe', `oip://${address}`, '--model', 'resnet', ...flags]);
    expect(said).toMatchObject({ code, stderr: expect.stringMatching(message) });
    if (code === 0) expect(said.stdout).toContain('--oip-service org.pytorch.GRPCInferenceService');
  });

  it.each([
    ['an unknown model', ['--model', 'vgg'], 4, /unknown model vgg.*the server has resnet, bert/],
    [
      'a file for one of many models',
      ['--output', 'x.yaml'],
      2,
      /add --model NAME \(resnet, bert\)/,
    ],
    ['TLS with a server that has none', ['--tls'], 4, /no TLS|closed the connection/],
  ])('refuses %s', async (_case, flags, code, message) => {
    const address = await startServer({ models: [IMAGE, TEXT], repository: indexOf(IMAGE, TEXT) });
    const said = await longhaulHere(['probe', `oip://${address}`, ...flags]);
    expect(said).toMatchObject({ code, stderr: expect.stringMatching(message) });
  });

  it('tells a port that is no gRPC, or closed, and an address that is none', async () => {
    const server = http.createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const web = await longhaulHere(['probe', `oip://127.0.0.1:${port}`]);
    expect(web).toMatchObject({ code: 4, stderr: expect.stringContaining('does not speak gRPC') });
    const closed = await longhaulHere(['probe', `oip://127.0.0.1:${await freePort()}`]);
    expect(closed).toMatchObject({ code: 4, stderr: expect.stringContaining('refused') });
    const wrong = await longhaulHere(['probe', 'http://127.0.0.1:8000']);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is an address of HTTP'),
    });
  });
});
