import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { TOKEN_STREAM_FEATURE } from '../../../../../shared/wire/sut-contract.ts';
import { InferStreamScene, partSample } from '../../../../scenes/sut-node/infer-stream-scene.ts';

// Goal: first tokens go out before their samples' answers, only to a run that measures them, within
// what the peer takes, and never on a stream that is gone. Method: the stream with a queue and a
// peer that only remember.

function opened(tokenLatencies: boolean): InferStreamScene {
  const scene = new InferStreamScene();
  scene.open({ tokenLatencies });
  return scene;
}

/** The model tells first tokens of all that waits; their payload is the id. */
function tellFirstTokens(scene: InferStreamScene): void {
  scene.stream.firstTokens(
    scene.queue.map((sample) => ({ sample, payload: Uint8Array.of(sample.id) })),
  );
}

/** Ids in the order of the wire: `f1` a first token, `c1` a completed sample. */
function order(scene: InferStreamScene): string[] {
  return scene.responses.flatMap(({ firstTokens, completed }) => [
    ...firstTokens.map(({ id }) => `f${id}`),
    ...completed.map(({ id }) => `c${id}`),
  ]);
}

describe('first tokens on a stream', () => {
  it('go out at once, with their bytes, before the answers', () => {
    const scene = opened(true);
    scene.part([partSample(1), partSample(2)]);
    tellFirstTokens(scene);
    expect(scene.responses[0]?.firstTokens.map(({ payload }) => [...payload])).toEqual([[1], [2]]);
    scene.answer();
    expect(order(scene)).toEqual(['f1', 'f2', 'c1', 'c2']);
  });

  it('are no answers: the sample is owed, its credit is out, the stream stays', () => {
    const scene = opened(true);
    scene.part([partSample(1)]);
    scene.close();
    const held = scene.credits.heldSamples;
    tellFirstTokens(scene);
    expect(scene.credits.heldSamples).toBe(held);
    expect(scene.ends).toEqual([]);
    scene.answer();
    expect(scene.ends.map((end) => end.code)).toEqual([status.OK]);
  });

  it('are not in the ledger', async () => {
    const scene = opened(true);
    scene.part([partSample(1)]);
    tellFirstTokens(scene);
    expect(await scene.ledgers.toWire('run-1')).toMatchObject({
      completedCount: 0,
      responseBytes: 0,
    });
  });

  it('are dropped for a run that does not measure them', () => {
    const scene = opened(false);
    scene.part([partSample(1)]);
    tellFirstTokens(scene);
    scene.answer();
    expect(order(scene)).toEqual(['c1']);
  });

  it('wait for a peer that takes no more, and keep their place before the answer', () => {
    const scene = opened(true);
    scene.part([partSample(1)]);
    scene.part([partSample(2)], { query: 1 });
    scene.takesMore = false;
    scene.answer(1);
    tellFirstTokens(scene);
    scene.answer(1);
    expect(order(scene)).toEqual(['c1']);
    scene.takesMore = true;
    scene.stream.drained();
    expect(order(scene)).toEqual(['c1', 'f2', 'c2']);
  });

  it('of a stream that is gone go nowhere', () => {
    const scene = opened(true);
    scene.part([partSample(1)]);
    const [sample] = scene.queue;
    if (sample === undefined) throw new Error('nothing waits');
    scene.stream.cancelled();
    const before = scene.messages.length;
    scene.stream.firstTokens([{ sample, payload: Uint8Array.of(1) }]);
    expect(scene.messages).toHaveLength(before);
  });

  it('that wait when the stream ends are dropped, and the sample is counted as dropped', () => {
    const scene = opened(true);
    scene.part([partSample(1)]);
    scene.takesMore = false;
    scene.part([partSample(2)], { query: 1 });
    tellFirstTokens(scene);
    tellFirstTokens(scene);
    scene.stream.cancelled();
    scene.stream.drained();
    expect(order(scene)).toEqual(['f1', 'f2']);
    expect(scene.ledgers.open('run-1').droppedCount).toBe(2);
  });

  it('go out in several messages where one would be too large', () => {
    const scene = opened(true);
    scene.part([partSample(1), partSample(2), partSample(3)]);
    const large = new Uint8Array(1_500_000 * 2);
    scene.stream.firstTokens(scene.queue.map((sample) => ({ sample, payload: large })));
    expect(scene.responses.map(({ firstTokens }) => firstTokens.length)).toEqual([1, 1, 1]);
  });
});

describe('further tokens on a stream', () => {
  const told = (scene: InferStreamScene): string[] =>
    scene.responses.flatMap(({ firstTokens, tokens, completed }) => [
      ...firstTokens.map(({ id }) => `f${id}`),
      ...tokens.map(({ id, payload }) => `t${id} ${[...payload]}`),
      ...completed.map(({ id }) => `c${id}`),
    ]);

  function asked(features: readonly string[], tokenLatencies = true) {
    const scene = new InferStreamScene();
    scene.open({ tokenLatencies, features: [...features] });
    const tell = (...bytes: number[]): void => {
      if (!scene.stream.takesTokens) return;
      scene.stream.tokens(
        scene.queue.map((sample) => ({ sample, payload: Uint8Array.from(bytes) })),
      );
    };
    return { scene, tell };
  }

  it('of all sequences of a step are one message, behind the first tokens and before the answers', () => {
    const { scene, tell } = asked([TOKEN_STREAM_FEATURE]);
    scene.part([partSample(1), partSample(2)]);
    tellFirstTokens(scene);
    tell(5);
    scene.answer();
    expect(scene.responses.map(({ tokens }) => tokens.length)).toEqual([0, 2, 0]);
    expect(told(scene)).toEqual(['f1', 'f2', 't1 5', 't2 5', 'c1', 'c2']);
  });

  it.each([
    ['that did not ask for them', [], true],
    ['that does not measure first tokens', [TOKEN_STREAM_FEATURE], false],
  ])('are not taken by a run %s', (_what, features, tokenLatencies) => {
    const { scene, tell } = asked(features, tokenLatencies);
    scene.part([partSample(1)]);
    expect(scene.stream.takesTokens).toBe(false);
    tell(5);
    scene.answer();
    expect(told(scene)).toEqual(['c1']);
  });

  it('wait joined for a peer that takes no more, and not at all once the answer is there', () => {
    const { scene, tell } = asked([TOKEN_STREAM_FEATURE]);
    scene.part([partSample(1), partSample(2)]);
    tellFirstTokens(scene);
    scene.takesMore = false;
    tell(5);
    tell(6);
    tell(7, 8);
    scene.answer(1);
    expect(told(scene)).toEqual(['f1', 'f2', 't1 5', 't2 5']);
    scene.takesMore = true;
    scene.stream.drained();
    expect(told(scene).slice(4)).toEqual(['c1', 't2 6,7,8']);
  });

  it('of a stream that is gone are not wanted', () => {
    const { scene, tell } = asked([TOKEN_STREAM_FEATURE]);
    scene.part([partSample(1)]);
    tellFirstTokens(scene);
    scene.stream.cancelled();
    expect(scene.stream.takesTokens).toBe(false);
    tell(5);
    expect(told(scene)).toEqual(['f1']);
  });
});
