import { describe, expect, it } from 'vitest';
import type { MachineSource } from '../../../../../shared/host/machine-source.ts';
import { MachineFacts } from '../../../../../sut-node/server/service-handlers.ts';
import { ManualClock } from '../../../../scenes/clock.ts';
import { suiteFolder } from '../../../../scenes/host/folders.ts';
import { plantMachine, serverTree } from '../../../../scenes/host/machines.ts';

// Goal: telling what machine a node runs on never costs a measured run anything. Method: a machine
// that counts its reads, a clock that stands still, and a run that begins when the test says so.

const planted = plantMachine(serverTree(), suiteFolder());

function scene() {
  const state = { isRunning: false, reads: 0, onRead: () => {} };
  const source: MachineSource = {
    ...planted,
    text: (path) => {
      state.reads += 1;
      state.onRead();
      return planted.text(path);
    },
  };
  const clock = new ManualClock();
  const machine = new MachineFacts(() => state.isRunning, { machine: () => source, clock });
  return { state, clock, machine };
}

describe('the facts of a machine', () => {
  it('are read once for all who ask within a minute, and again after it', async () => {
    const { state, clock, machine } = scene();
    const [first, second] = await Promise.all([machine.told(), machine.told()]);
    const reads = state.reads;
    expect(first?.facts.hostname).toBe('server');
    expect(second).toBe(first);
    clock.advance(59e9);
    expect(await machine.told()).toBe(first);
    expect(state.reads).toBe(reads);
    clock.advance(2e9);
    expect((await machine.told())?.facts).toEqual(first?.facts);
    expect(state.reads).toBe(2 * reads);
  });

  it('are not read while a run is going on', async () => {
    const { state, machine } = scene();
    state.isRunning = true;
    expect(await machine.told()).toBeUndefined();
    expect(state.reads).toBe(0);
  });

  it('are those from before the run, however old', async () => {
    const { state, clock, machine } = scene();
    const before = await machine.told();
    const { reads } = state;
    clock.advance(3600e9);
    state.isRunning = true;
    expect(await machine.told()).toBe(before);
    expect(state.reads).toBe(reads);
  });

  it('are given up when a run begins, and never told half', async () => {
    const { state, machine } = scene();
    state.onRead = () => {
      if (state.reads === 5) state.isRunning = true;
    };
    expect(await machine.told()).toBeUndefined();
    expect(state.reads).toBe(5);
    state.isRunning = false;
    expect((await machine.told())?.facts.hostname).toBe('server');
  });
});
