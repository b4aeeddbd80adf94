import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CreditBook,
  type StreamCredit,
} from '../../../../../sut-node/server/ledger/credit-book.ts';
import { STREAMS_MAX } from '../../../../../sut-node/server/limits/node-limits.ts';

const LIMITS = { bytesMax: 6_400, samplesMax: 640, sampleBytesMax: 200 };
const FIRST_SAMPLES = LIMITS.samplesMax / STREAMS_MAX;

function open(book: CreditBook): { credit: StreamCredit; told: [number, number][] } {
  const told: [number, number][] = [];
  const credit: StreamCredit | undefined = book.open(() => {
    if (credit !== undefined) told.push([credit.grantedSamples, credit.grantedBytes]);
  });
  if (credit === undefined) throw new Error('no stream');
  return { credit, told };
}

function send(credit: StreamCredit, samples: number, bytes: number): void {
  expect(credit.take(samples, bytes)).toBe(true);
  for (let i = 0; i < samples; i += 1) credit.begin();
}

/** A peer that keeps to its credit. */
class HonestPeer {
  readonly #credit: StreamCredit;
  /** Bytes of each sample that has no answer yet. */
  #inWork: number[] = [];
  #sentSamples = 0;
  #sentBytes = 0;

  constructor(credit: StreamCredit) {
    this.#credit = credit;
  }

  get restSamples(): number {
    return this.#credit.grantedSamples - this.#sentSamples;
  }

  get restBytes(): number {
    return this.#credit.grantedBytes - this.#sentBytes;
  }

  sendIfGranted(samples: number, bytesEach: number): void {
    if (samples > this.restSamples || samples * bytesEach > this.restBytes) return;
    send(this.#credit, samples, samples * bytesEach);
    this.#sentSamples += samples;
    this.#sentBytes += samples * bytesEach;
    this.#inWork.push(...new Array<number>(samples).fill(bytesEach));
  }

  getAnswers(count: number): void {
    const done = this.#inWork.splice(0, count);
    const bytes = done.reduce((sum, each) => sum + each, 0);
    if (done.length > 0) this.#credit.finish(done.length, bytes);
  }
}

// Goal: what peers may send is bounded, shared fairly, and no peer that keeps to its credit is
// stuck. Method: small limits; scenes by hand, then random ones.
describe('CreditBook', () => {
  it('grants one largest sample first, and the whole queue to the only stream', () => {
    const { credit, told } = open(new CreditBook(LIMITS));
    expect([credit.grantedSamples, credit.grantedBytes]).toEqual([FIRST_SAMPLES, 200]);
    credit.grow();
    expect(told).toEqual([[640, 6_400]]);
  });

  it('grants totals that only grow', () => {
    const { credit, told } = open(new CreditBook(LIMITS));
    credit.grow();
    for (let i = 0; i < 10; i += 1) {
      send(credit, 100, 1_000);
      credit.finish(100, 1_000);
    }
    const totals = told.map(([samples]) => samples);
    expect(totals).toEqual([...totals].sort((a, b) => a - b));
    expect(totals.at(-1)).toBeGreaterThan(1_000);
  });

  it('tells credit by quarters of the share', () => {
    const { credit, told } = open(new CreditBook(LIMITS));
    credit.grow();
    send(credit, 640, 6_400);
    for (let i = 0; i < 159; i += 1) credit.finish(1, 10);
    expect(told).toHaveLength(1);
    credit.finish(1, 10);
    expect(told.at(-1)).toEqual([800, 8_000]);
  });

  it('tells credit at once when the peer holds less than a largest sample and nothing is in work', () => {
    const book = new CreditBook({ bytesMax: 1_000, samplesMax: 100, sampleBytesMax: 1_000 });
    const { credit, told } = open(book);
    credit.grow();
    told.length = 0;
    send(credit, 1, 10);
    credit.finish(1, 10);
    expect(told).toEqual([[101, 1_010]]);
  });

  it.each([
    ['samples', FIRST_SAMPLES + 1, 0],
    ['bytes', 1, 201],
  ])('notices a peer that sends more %s than it was granted', (_case, samples, bytes) => {
    const { credit } = open(new CreditBook(LIMITS));
    expect(credit.take(samples, bytes)).toBe(false);
  });

  it('gives a new stream its first grant although another holds the whole queue', () => {
    const book = new CreditBook(LIMITS);
    const old = open(book);
    old.credit.grow();
    const late = open(book);
    late.credit.grow();
    expect([late.credit.grantedSamples, late.credit.grantedBytes]).toEqual([FIRST_SAMPLES, 200]);
  });

  it('moves credit from a stream that holds more than its share to one that holds less', () => {
    const book = new CreditBook(LIMITS);
    const old = open(book);
    old.credit.grow();
    const late = open(book);
    send(old.credit, 640, 6_400);
    old.credit.finish(640, 6_400);
    expect(late.credit.grantedSamples).toBe(320);
    expect(late.credit.grantedBytes).toBe(3_200);
    expect(book.heldSamples).toBeLessThanOrEqual(640);
  });

  it('gives what a closed stream held to the others', () => {
    const book = new CreditBook(LIMITS);
    const old = open(book);
    old.credit.grow();
    const late = open(book);
    old.credit.close();
    expect(late.told.at(-1)).toEqual([640, 6_400]);
  });

  it('opens no more streams than it has first grants for', () => {
    const book = new CreditBook(LIMITS);
    for (let i = 0; i < STREAMS_MAX; i += 1) open(book);
    expect(book.open(() => {})).toBeUndefined();
  });

  it('holds its bound, and lets every stream send its largest sample once it is idle', () => {
    const step = fc.record({
      stream: fc.nat(4),
      samples: fc.integer({ min: 1, max: 40 }),
      bytesEach: fc.nat(200),
      isAnswer: fc.boolean(),
    });
    const holds = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const book = new CreditBook(LIMITS);
      const peers = Array.from({ length: 5 }, () => new HonestPeer(open(book).credit));
      for (const { stream, samples, bytesEach, isAnswer } of steps) {
        const peer = peers[stream] as HonestPeer;
        if (isAnswer) peer.getAnswers(samples);
        else peer.sendIfGranted(samples, bytesEach);
        expect(book.heldSamples).toBeLessThanOrEqual(book.samplesHeldMax);
        expect(book.heldBytes).toBeLessThanOrEqual(LIMITS.bytesMax + STREAMS_MAX * 200);
      }
      for (const peer of peers) {
        peer.getAnswers(Number.POSITIVE_INFINITY);
        expect(peer.restSamples).toBeGreaterThanOrEqual(1);
        expect(peer.restBytes).toBeGreaterThanOrEqual(LIMITS.sampleBytesMax);
      }
    });
    fc.assert(holds, { seed: Number(process.env['TEST_SEED'] ?? 1) });
  });
});
