import { describe, expect, it, onTestFinished } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { OIP_PAYLOADS, oipPlan, openOipQdl } from '../../scenes/oip-server/oip-qdl.ts';
import { queryOf } from '../../scenes/sut-node/fake-sut-node.ts';
import { ANSWERING_MAKES, AnsweringServer } from './answering-server.ts';

// Goal: each call has its own answer and its own status, whatever header blocks and packets a make
// of gRPC uses. Method: servers on grpc-go, gRPC's core and python-hpack, of which every so many
// calls fail behind their answer; each sample is compared with what the server did with it, and
// read buffers are overwritten.
const QUERIES = 400;
/** Calls at once. */
const WIDTH = 8;

for (const make of ANSWERING_MAKES) {
  const { name, obstacle } = make;
  if (obstacle !== undefined) console.log(`answers of ${name} are skipped: ${obstacle}`);

  describe.skipIf(obstacle !== undefined)(`a server on ${name}`, () => {
    let command: readonly string[] | undefined;

    it.each([
      { failEvery: 0, gapMs: 0 },
      { failEvery: 0, gapMs: 2 },
      { failEvery: 2, gapMs: 2 },
      { failEvery: 3, gapMs: 0 },
    ])('has its answers told apart: %o', async (answers) => {
      command ??= make.command(suiteFolder());
      const server = await AnsweringServer.start(command, answers);
      onTestFinished(() => server.kill());
      const { qdl, sink } = await openOipQdl([server], oipPlan('unary'));
      for (let begin = 0; begin < QUERIES; begin += WIDTH) {
        for (let id = begin; id < begin + WIDTH; id += 1) qdl.issueQuery(queryOf(id, id, [id]));
        await sink.answered(begin + WIDTH);
      }
      await qdl.stop();
      const seen = await server.stop();
      const inHex = (id: number): string => Buffer.from(OIP_PAYLOADS.payloadOf(id)).toString('hex');
      expect(sink.failed.map(({ id }) => inHex(id)).toSorted()).toEqual(seen.failed.toSorted());
      expect(seen).toMatchObject({ calls: QUERIES });
      for (const { failure } of sink.failed) expect(failure.text).toMatch(/INTERNAL: broken/);
      const wrong = sink.completed.filter(
        ({ id, payload }) => Buffer.from(payload).toString('hex') !== inHex(id),
      );
      expect(wrong).toEqual([]);
    });
  });
}
