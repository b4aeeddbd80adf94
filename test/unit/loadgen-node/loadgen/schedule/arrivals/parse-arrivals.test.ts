import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RateStep } from '../../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import { stepRateText } from '../../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import { parseArrivals } from '../../../../../../loadgen-node/loadgen/schedule/arrivals/parse-arrivals.ts';

// Goal: what is written is what runs, or is refused with what would be right.
// Method: tables, and steps of random values that are written and read again.
describe('parseArrivals', () => {
  it.each([
    ['poisson', { kind: 'poisson' }],
    ['constant', { kind: 'constant' }],
    ['burst:16', { kind: 'burst', size: 16, periodNs: null }],
    ['burst:16@250ms', { kind: 'burst', size: 16, periodNs: 250e6 }],
    [
      'step:100@30s, 200.5@1m',
      {
        kind: 'step',
        isConstant: false,
        steps: [
          { fromQps: 100, toQps: 100, durationNs: 30e9 },
          { fromQps: 200.5, toQps: 200.5, durationNs: 60e9 },
        ],
      },
    ],
    [
      'step:0-50@10s,0@1s,50-1e2@500ms:constant',
      {
        kind: 'step',
        isConstant: true,
        steps: [
          { fromQps: 0, toQps: 50, durationNs: 10e9 },
          { fromQps: 0, toQps: 0, durationNs: 1e9 },
          { fromQps: 50, toQps: 100, durationNs: 5e8 },
        ],
      },
    ],
    ['trace:a.csv', { kind: 'trace', file: 'a.csv', speed: 1 }],
    ['trace:C:a b.csv@0.5', { kind: 'trace', file: 'C:a b.csv', speed: 0.5 }],
    ['trace:/tmp/me@home/a.csv', { kind: 'trace', file: '/tmp/me@home/a.csv', speed: 1 }],
    ['trace:a@2.csv@1', { kind: 'trace', file: 'a@2.csv', speed: 1 }],
  ])('reads %s', (text, expected) => {
    expect(parseArrivals(text)).toEqual(expected);
  });

  it.each([
    ['', 'must be one of: poisson, constant, burst:SIZE[@PERIOD]'],
    ['Poisson', 'must be one of'],
    ['gamma:2', 'must be one of'],
    ['constant:5', 'constant takes no value, and has "5"'],
    ['burst', 'needs a whole number of queries from 1 to 268435456, not ""'],
    ['burst:0', 'not "0"'],
    ['burst:-3', 'not "-3"'],
    ['burst:1.5', 'not "1.5"'],
    ['burst:NaN', 'not "NaN"'],
    ['burst:268435457', 'not "268435457"'],
    ['burst:5@0s', 'needs a time above 0 with its unit, for example 500ms, not "0s"'],
    ['burst:5@10', 'not "10"'],
    ['burst:5@1s@2s', 'not "1s@2s"'],
    ['step', 'step 1, "": needs RATE@DURATION, for example 100@30s'],
    ['step:100', 'step 1, "100": needs RATE@DURATION'],
    ['step:100@30s,', 'step 2, "": needs RATE@DURATION'],
    ['step:-5@1s', 'step 1, "-5@1s": the rate must be queries per second'],
    ['step:NaN@1s', 'the rate must be queries per second'],
    ['step:Infinity@1s', 'the rate must be queries per second'],
    ['step:1-2-3@1s', 'the rate must be queries per second'],
    ['step:2e9@1s', 'the rate must be 1000000000 or less'],
    ['step:5@1', 'the duration must be a time above 0 with its unit, for example 30s'],
    ['step:5@0s', 'the duration must be a time above 0'],
    ['step:5@-1s', 'the duration must be a time above 0'],
    ['step:0@1s,5@1s', 'the first and the last step need a rate above 0'],
    ['step:5@1s,0@1s', 'the first and the last step need a rate above 0'],
    ['step:1e6@300s', 'ask for 300000000 queries; a run plans 268435456 at most'],
    ['step:0.001@2600h', 'longer than 104 days'],
    ['step:5@1s:poisson', 'only :constant may follow the steps, not ":poisson"'],
    [`step:${Array(1001).fill('1@1s').join(',')}`, 'at most 1000 steps, not 1001'],
    ['trace:', 'trace:FILE needs the path of a file'],
    ['trace:@2', 'trace:FILE needs the path of a file'],
    ['trace:a@0', 'needs a number above 0, for example 2 for twice as fast, not "0"'],
    ['trace:a@-1', 'not "-1"'],
    ['trace:a@b.csv', 'a file with an @ in its name: add @1'],
  ])('refuses %j', (text, problem) => {
    expect(parseArrivals(text)).toContain(problem);
  });

  it('reads every list of steps as it was written', () => {
    const rate = fc.double({ min: 0.001, max: 1e4, noNaN: true });
    const step = fc.record({
      fromQps: rate,
      toQps: rate,
      seconds: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), fc.boolean(), (list, even) => {
        const steps: RateStep[] = list.map(({ fromQps, toQps, seconds }) => ({
          ...{ fromQps, toQps: even ? fromQps : toQps },
          durationNs: seconds * 1e9,
        }));
        const text = steps.map((one) => `${stepRateText(one)}@${one.durationNs / 1e9}s`).join(',');
        expect(parseArrivals(`step:${text}`)).toEqual({ kind: 'step', steps, isConstant: false });
      }),
    );
  });

  it('answers any text with arrivals or a sentence', () => {
    const piece = fc.constantFrom(
      'step',
      'burst',
      'trace',
      ':',
      '@',
      ',',
      '-',
      '5',
      '1s',
      'e9',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.string(), (pieces, rest) => {
        const parsed = parseArrivals(pieces.join('') + rest);
        expect(typeof parsed === 'string' ? parsed.length : parsed.kind.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});
