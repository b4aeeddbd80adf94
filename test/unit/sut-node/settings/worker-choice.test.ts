import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  chooseWorkers,
  roomHere,
  type WorkerRoom,
  type WorkerWishes,
  workersInWords,
} from '../../../../sut-node/settings/worker-choice.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

const WISHES: WorkerWishes = {
  ...{ benchmark: 'digits', workers: 'auto', threadsPerWorker: undefined, interThreads: 1 },
  ...{ providers: ['cpu'], batchPreset: 'none' },
};
const ROOM: WorkerRoom = { cores: 16, memoryBytes: 64e9, workerBytes: 1e9 };

function words(wishes: Partial<WorkerWishes>, room: Partial<WorkerRoom> = {}): string {
  return workersInWords(chooseWorkers({ ...WISHES, ...wishes }, { ...ROOM, ...room }));
}

const LEFT = "one is left to the node's own work";

// Goal: a node uses its machine where nobody says how, and says what it chose and what is unused.
// Method: wishes and machines as values.
describe('chooseWorkers', () => {
  it.each([
    [{}, {}, `15 workers of 1 thread (16 cores, ${LEFT}; --workers)`],
    [{}, { cores: 2 }, `1 worker of 1 thread (2 cores, ${LEFT}; --workers)`],
    [
      {},
      { cores: 1 },
      "1 worker of 1 thread (1 core, which does the node's own work as well; --workers)",
    ],
    [
      { threadsPerWorker: 4 },
      {},
      `3 workers of 4 threads (16 cores, ${LEFT}, 3 are unused; --workers)`,
    ],
    [{ threadsPerWorker: 64 }, {}, `1 worker of 64 threads (16 cores, ${LEFT}; --workers)`],
    [{ interThreads: 2 }, {}, `7 workers of 1 thread (16 cores, ${LEFT}, 1 is unused; --workers)`],
    [
      {},
      { workerBytes: 30e9 },
      `2 workers of 7 threads (16 cores, ${LEFT}, 1 is unused, free memory is enough for 2 workers; --workers)`,
    ],
    [
      {},
      { workerBytes: 300e9 },
      `1 worker of 15 threads (16 cores, ${LEFT}, free memory is enough for one worker; --workers)`,
    ],
    [
      { batchPreset: 'single-stream' },
      {},
      `1 worker of 15 threads (16 cores, ${LEFT}, --batch-preset single-stream: one query at a time; --workers)`,
    ],
    [{ providers: ['cuda', 'cpu'] }, {}, '1 worker of 1 thread (cuda computes; --workers)'],
    // They have no workers, and refuse settings of any.
    [{ benchmark: 'delay' }, {}, '1 worker of 1 thread'],
  ] as const)('%j on %j: %s', (wishes, room, expected) => {
    expect(words(wishes, room)).toBe(expected);
  });

  it('takes numbers as they are said', () => {
    expect(words({ workers: 40 })).toBe('40 workers of 1 thread');
    expect(words({ workers: 1, threadsPerWorker: 2 }, { cores: 1 })).toBe('1 worker of 2 threads');
  });
});

describe('roomHere', () => {
  it('takes a model for as large as its file, with weights in files beside it', () => {
    const folder = tempFolder();
    const model = join(folder, 'net.onnx');
    const { workerBytes: before } = roomHere({ model });
    writeFileSync(model, new Uint8Array(100));
    const { workerBytes: small } = roomHere({ model });
    writeFileSync(`${model}.data`, new Uint8Array(1000));
    writeFileSync(join(folder, 'net.yaml'), 'model: net.onnx\n');
    for (const path of [model, join(folder, 'net.yaml')]) {
      expect(roomHere({ model: path }).workerBytes).toBe(small + 2000);
    }
    expect(before).toBe(roomHere({ model: undefined }).workerBytes);
    expect(roomHere({ model })).toMatchObject({ cores: expect.any(Number) });
    expect(roomHere({ model }).memoryBytes).toBeGreaterThan(0);
  });
});
