import { describe, expect, it } from 'vitest';
import { BackPressure } from '../../../../qdl/dispatch/back-pressure.ts';

// Goal: the time in which queries waited is counted by what they waited for. Method: instants by
// hand.
describe('BackPressure', () => {
  it('counts what is missing from one change to the next, and nothing while nothing is', () => {
    const pressure = new BackPressure();
    pressure.change('credit', 100);
    pressure.change('credit', 150);
    pressure.change('socket', 170);
    pressure.change('none', 175);
    pressure.change('credit', 1_000);
    expect(pressure.timesAt(1_001)).toEqual({ creditNs: 71, socketNs: 5 });
    expect(pressure.timesAt(1_010)).toEqual({ creditNs: 80, socketNs: 5 });
    expect(pressure.shortage).toBe('credit');
  });
});
