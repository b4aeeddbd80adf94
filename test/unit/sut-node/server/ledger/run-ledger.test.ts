import { describe, expect, it } from 'vitest';
import type { Open__Output } from '../../../../../proto/gen/mlperf/network/v1/Open.ts';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
  sha256Words,
} from '../../../../../shared/evidence/payload-digest.ts';
import type {
  OnDigest,
  PayloadDigester,
} from '../../../../../sut-node/server/digest/digest-thread.ts';
import { RunLedgers } from '../../../../../sut-node/server/ledger/run-ledger.ts';

// Goal: a ledger holds the digests of all chosen payloads before anyone sees it.
// Method: a digester whose answers the test gives.

const ALL = 1_000_000;

function scene(perMillion = ALL) {
  const asked: OnDigest[] = [];
  const digester: PayloadDigester = {
    prepare: () => {},
    digest: (_pieces, _bytes, onDigest) => asked.push(onDigest),
  };
  const ledgers = new RunLedgers({ digester });
  const ledger = ledgers.open('run');
  ledger.openStream(perMillion, 0);
  return { asked, ledgers, ledger };
}

const payload = Buffer.from('payload');

function openOf(fields: Partial<Open__Output>): Open__Output {
  return { runId: 'run', digestPerMillion: 0, features: [], ...fields } as Open__Output;
}

describe('RunLedger', () => {
  const part = (query: number, querySampleCount: number, newSamples: number) => ({
    query,
    querySampleCount,
    newSamples,
  });

  it('takes the parts of a query until all its samples began, whatever lies between, and then no more', () => {
    const { ledger } = scene();
    ledger.countPart(part(7, 5, 2), 1);
    ledger.countPart(part(8, 1, 1), 1);
    ledger.countPart(part(7, 5, 3), 1);
    // The last piece of a sample that began before.
    ledger.countPart(part(7, 5, 0), 1);
    expect(ledger.queryCount).toBe(2);
    expect(() => ledger.countPart(part(7, 5, 1), 1)).toThrow(
      'query 7 has more samples than the 5 of its own account',
    );
    expect(() => ledger.countPart(part(8, 1, 1), 1)).toThrow('query 8 has more samples');
  });

  it.each([
    ['too many samples at once', part(7, 5, 4), 'query 7 has more samples than the 5'],
    ['another number of samples', part(7, 6, 1), '6 samples by its own account, 5 in an earlier'],
  ])('refuses a second part with %s', (_case, second, text) => {
    const { ledger } = scene();
    ledger.countPart(part(7, 5, 2), 1);
    expect(() => ledger.countPart(second, 1)).toThrow(text);
  });

  it('takes queries of which the rest went to other nodes, however many, and later parts of them', () => {
    const { ledger } = scene();
    for (let query = 0; query < 10_000; query += 1) ledger.countPart(part(query, 5, 2), 1);
    ledger.countPart(part(0, 5, 3), 1);
    ledger.countPart(part(9_999, 5, 3), 1);
    expect(ledger.queryCount).toBe(10_000);
  });

  it('is told only when the digests that are under way are in it', async () => {
    const { asked, ledgers, ledger } = scene();
    ledger.digestPayload(7, [payload], payload.length);
    ledger.digestPayload(8, [payload], payload.length);
    let isTold = false;
    const told = ledgers.toWire('run').then((wire) => {
      isTold = true;
      return wire;
    });
    asked[1]?.(sha256Words([payload]));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isTold).toBe(false);
    asked[0]?.(sha256Words([payload]));
    const expected = new PayloadDigestSum(ALL);
    for (const id of [7, 8]) expected.add(id, sha256Words([payload]));
    expect(await told).toMatchObject({
      payloadDigest: expected.toBytes(),
      digestedSampleCount: 2,
    });
  });

  it('is not reported when a digest was lost', async () => {
    const { asked, ledgers, ledger } = scene();
    ledger.digestPayload(7, [payload], payload.length);
    asked[0]?.(undefined);
    await expect(ledgers.toWire('run')).rejects.toThrow(/payload digests has ended/);
  });

  it('asks for no digest of a sample that is not chosen, and has none where none is wanted', async () => {
    const { asked, ledgers, ledger } = scene(0);
    ledger.digestPayload(7, [payload], payload.length);
    expect(asked).toEqual([]);
    const wire = await ledgers.toWire('run');
    expect([wire.payloadDigest?.length, wire.digestedSampleCount]).toEqual([0, 0]);
  });
});

describe('RunLedgers', () => {
  const features = [PAYLOAD_DIGESTS_FEATURE];

  it.each<[string, Partial<Open__Output>, RegExp]>([
    ['digests without the feature', { digestPerMillion: 1 }, /may be 0 at most/],
    ['more than all', { digestPerMillion: ALL + 1, features }, /may be 1000000 at most/],
    [
      'another share than an earlier stream',
      { digestPerMillion: 5, features },
      /another stream of run run said 1000000/,
    ],
  ])('refuse %s', (_case, fields, message) => {
    const { ledgers } = scene();
    expect(() => ledgers.check(openOf(fields))).toThrow(message);
  });

  it('take the share that an earlier stream had, and any share for a new run', () => {
    const { ledgers } = scene();
    ledgers.check(openOf({ digestPerMillion: ALL, features }));
    ledgers.check(openOf({ runId: 'other', digestPerMillion: 5, features }));
    ledgers.check(openOf({ runId: 'third' }));
  });

  it('keep a run that has just ended, whatever runs others open, and refuse those that are too many', async () => {
    let nowMs = 0;
    const ledgers = new RunLedgers({ nowMs: () => nowMs });
    const finish = (runId: string): void => {
      ledgers.check(openOf({ runId }));
      const ledger = ledgers.open(runId);
      ledger.openStream(0, 0);
      ledger.closeStream();
    };
    const isKnown = async (runId: string) => (await ledgers.toWire(runId)).known;
    finish('measured');
    for (let i = 0; i < 1_023; i += 1) finish(`other ${i}`);
    expect(() => finish('one more')).toThrow(/had 1024 runs within 60 s/);
    expect(await isKnown('measured')).toBe(true);
    nowMs = 60_001;
    finish('later');
    expect(await isKnown('measured')).toBe(false);
    expect(await isKnown('other 1022')).toBe(true);
  });

  it('count for the node what they count for a run, and keep that when the run is forgotten', () => {
    let nowMs = 0;
    const ledgers = new RunLedgers({ nowMs: () => nowMs });
    const ledger = ledgers.open('first');
    ledger.openStream(0, 0);
    ledger.countPart({ query: 0, querySampleCount: 5, newSamples: 5 }, 10);
    ledger.sampleCount = 5;
    ledger.completedCount = 2;
    ledger.countFailures([1, 3, 3]);
    const counted = {
      runCount: 1,
      streamCount: 1,
      queryCount: 1,
      partCount: 1,
      sampleCount: 5,
      payloadBytes: 10,
      completedCount: 2,
      failedByCode: [0, 1, 0, 2, 0],
      droppedCount: 0,
      responseBytes: 0,
    };
    expect(ledger.failedCount).toBe(3);
    expect(ledgers.totals()).toEqual(counted);
    ledger.closeStream();
    nowMs = 60_001;
    for (let i = 0; i < 20; i += 1) {
      ledgers.check(openOf({ runId: `${i}` }));
      ledgers.open(`${i}`);
    }
    expect(ledgers.totals()).toEqual({ ...counted, runCount: 21 });
    expect(ledgers.open('first').sampleCount).toBe(0);
  });

  it('tell how many streams had the number of another one of their run', async () => {
    const ledgers = new RunLedgers();
    for (const index of [0, 1, 0, 0]) ledgers.open('run').openStream(0, index);
    ledgers.open('other').openStream(0, 0);
    const told = { streamCount: 4, repeatedStreamCount: 2 };
    expect(await ledgers.toWire('run')).toMatchObject(told);
    expect(await ledgers.toWire('other')).toMatchObject({ repeatedStreamCount: 0 });
  });

  it('tell the workers that were replaced while their run had a stream', async () => {
    let replaced = 2;
    const ledgers = new RunLedgers({ replacedWorkers: () => replaced });
    const replacedOf = async (runId: string) => (await ledgers.toWire(runId)).replacedWorkerCount;
    const ledger = ledgers.open('run');
    ledger.openStream(0, 0);
    expect(await replacedOf('run')).toBe(0);
    replaced = 5;
    expect(await replacedOf('run')).toBe(3);
    ledger.closeStream();
    replaced = 6;
    expect(await replacedOf('run')).toBe(3);
    ledgers.open('later').openStream(0, 0);
    expect(await replacedOf('later')).toBe(0);
  });

  it('keep a run that has a stream for as long as that is open', async () => {
    let nowMs = 0;
    const ledgers = new RunLedgers({ nowMs: () => nowMs });
    ledgers.open('long').openStream(0, 0);
    for (let i = 0; i < 40; i += 1) {
      nowMs += 60_001;
      ledgers.check(openOf({ runId: `${i}` }));
      const ledger = ledgers.open(`${i}`);
      ledger.openStream(0, 0);
      ledger.closeStream();
    }
    expect((await ledgers.toWire('long')).known).toBe(true);
    expect((await ledgers.toWire('20')).known).toBe(false);
  });
});

describe('work for others', () => {
  /** Ledgers of a node, and the samples that it answered for clients without a run. */
  function node() {
    const elsewhere = { count: 0 };
    return { elsewhere, ledgers: new RunLedgers({ unledgeredAnswers: () => elsewhere.count }) };
  }

  const told = async (ledgers: RunLedgers, run: string) => {
    const { otherSampleCount, otherAddresses } = await ledgers.toWire(run);
    return [otherSampleCount, otherAddresses];
  };

  it('is what was answered between the first stream of a run and the end of its last, and no more', async () => {
    const { ledgers } = node();
    const [one, two] = [ledgers.open('one'), ledgers.open('two')];
    one.openStream(0, 0, '10.0.0.1');
    one.completedCount = 100;
    two.openStream(0, 0, '10.0.0.2');
    one.completedCount += 20;
    one.countFailures([2]);
    two.completedCount += 7;
    expect(await told(ledgers, 'two')).toEqual([21, []]);
    two.closeStream();
    one.completedCount += 50;
    expect(await told(ledgers, 'two')).toEqual([21, ['10.0.0.1']]);
    expect(await told(ledgers, 'one')).toEqual([7, ['10.0.0.2']]);
    // Another stream of the same run, later.
    two.openStream(0, 1, '10.0.0.2');
    one.completedCount += 4;
    one.closeStream();
    two.closeStream();
    expect(await told(ledgers, 'two')).toEqual([25, ['10.0.0.1']]);
    expect(await told(ledgers, 'one')).toEqual([7, ['10.0.0.2']]);
  });

  it('counts no streams of the same run, no idle run beside it, and no warm-up', async () => {
    const { ledgers } = node();
    const [one, idle, warmUp] = [ledgers.open('one'), ledgers.open('idle'), ledgers.apart('warm')];
    idle.openStream(0, 0, '10.0.0.2');
    warmUp.openStream(0, 0, '10.0.0.3');
    one.openStream(0, 0, '10.0.0.1');
    one.openStream(0, 1, '10.0.0.1');
    one.completedCount = 30;
    warmUp.completedCount = 900;
    one.closeStream();
    one.closeStream();
    expect(await told(ledgers, 'one')).toEqual([0, []]);
    expect(await told(ledgers, 'idle')).toEqual([30, ['10.0.0.1']]);
  });

  it('includes clients without a run, whose addresses are not known', async () => {
    const { ledgers, elsewhere } = node();
    elsewhere.count = 500;
    const one = ledgers.open('one');
    one.openStream(0, 0, '10.0.0.1');
    elsewhere.count += 12;
    one.closeStream();
    elsewhere.count += 1;
    expect(await told(ledgers, 'one')).toEqual([12, []]);
  });
});
