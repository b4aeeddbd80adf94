import { afterEach, describe, expect, it } from 'vitest';
import type { DrivenSet } from '../../../../loadgen-node/loadgen/engine/issue/issue-driver.ts';
import {
  type BridgeAddon,
  type BridgeOptions,
  type BridgeViews,
  REQUEST,
} from '../../../../loadgen-node/official/addon.ts';
import { OfficialDriver } from '../../../../loadgen-node/official/official-driver.ts';

type OnEvent = Parameters<BridgeAddon['start']>[2];

const exitListeners = process.listeners('exit');

afterEach(() => {
  for (const listener of process.listeners('exit')) {
    if (!exitListeners.includes(listener)) process.off('exit', listener);
  }
});

/** A bridge whose LoadGen does what the test says. */
function scripted(name: () => Promise<string> = () => Promise.resolve('Network SUT: a')) {
  let onEvent: OnEvent = () => {};
  const replies: (string | undefined)[] = [];
  const addon = {
    start: (_options: BridgeOptions, _views: unknown, listener: OnEvent) => {
      onEvent = listener;
    },
    reply: (text?: string) => void replies.push(text),
    release: () => {},
  } as unknown as BridgeAddon;
  const driver = new OfficialDriver(addon, {} as BridgeOptions, () =>
    Promise.resolve({ isValid: undefined, errors: [], differences: [], otherSettings: null }),
  );
  driver.begin(name);
  return {
    driver,
    replies,
    event: (request: number, detail?: Uint32Array | string) => onEvent(0, 0, request, detail),
  };
}

// Goal: in a stream the next query comes with the call that completes the one before, however many
// there are. Method: a bridge whose LoadGen goes on inside that call, and a SUT that completes
// inside issueQuery.
it('reads the queries that LoadGen issues while it takes responses, without nesting', () => {
  const count = 3000;
  let views: BridgeViews | undefined;
  let head = 0;
  const goOn = (): number => {
    const { queries, samples, stamps } = views as BridgeViews;
    // Behind the last query the end of the set.
    queries[2 * head] = head < count ? 1 : 0;
    samples[head] = head % 7;
    stamps[head] = 0;
    head += 1;
    return head;
  };
  let onEvent: OnEvent = () => {};
  const addon = {
    start: (_options: BridgeOptions, given: BridgeViews, listener: OnEvent) => {
      views = given;
      onEvent = listener;
    },
    complete: goOn,
    reply: () => {},
  } as unknown as BridgeAddon;
  const driver = new OfficialDriver(addon, { issueThreads: 0 } as BridgeOptions, () =>
    Promise.reject(new Error()),
  );
  driver.begin(() => Promise.resolve('Network SUT: a'));
  const issued: number[] = [];
  let depth = 0;
  let isEnded = false;
  driver.drive({
    plan: {
      queryCount: count,
      samplesPerQuery: 1,
      sampleIndices: Uint32Array.from({ length: count }, (_, i) => i % 7),
    },
    nowNs: () => 1,
    issue: (query: number) => {
      depth += 1;
      expect(depth).toBe(1);
      issued.push(query);
      driver.complete(query, Uint8Array.of(1), 0);
      depth -= 1;
    },
    breakOff: (error: Error) => {
      throw error;
    },
    endIssuing: () => {
      isEnded = true;
    },
  } as unknown as DrivenSet);
  onEvent(goOn(), 0, REQUEST.none, undefined);
  expect(issued).toHaveLength(count);
  expect(isEnded).toBe(true);
});

// Goal: who waits for the C++ LoadGen is never left waiting. Method: a bridge that breaks before
// the first query.
describe('a C++ LoadGen that breaks before a query', () => {
  it('whose test ends with an error ends the wait for its samples', async () => {
    const { driver, event } = scripted();
    const waiting = driver.nextSet();
    event(REQUEST.ended, 'out of memory');
    await expect(waiting).rejects.toThrow("the C++ LoadGen's test broke: out of memory");
  });

  it('whose test ends without a set says so', async () => {
    const { driver, event } = scripted();
    event(REQUEST.ended, '');
    await expect(driver.nextSet()).rejects.toThrow('requests no further samples');
  });

  it('to which the SUT gives no name ends the wait as well', async () => {
    const { driver, event, replies } = scripted(() => Promise.reject(new Error('no node answers')));
    event(REQUEST.name);
    await expect(driver.nextSet()).rejects.toThrow('no node answers');
    expect(replies).toEqual([]);
  });

  it('gets the name, and its samples, where all is well', async () => {
    const { driver, event, replies } = scripted();
    event(REQUEST.name);
    event(REQUEST.load, Uint32Array.of(2, 1));
    expect(await driver.nextSet()).toEqual(Uint32Array.of(2, 1));
    expect(replies).toEqual(['Network SUT: a']);
  });
});
