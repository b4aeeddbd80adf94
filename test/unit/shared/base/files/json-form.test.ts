import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkedForm } from '../../../../../shared/base/files/json-form.ts';

// Goal: what is wrong with a user's JSON is told without words of a library: where, what would be
// right, what is there. Method: one form, a fault at a time.

const FORM = z.object({
  name: z.string().min(1),
  images: z.array(z.object({ width: z.number().positive(), id: z.int().min(0).max(9) })),
  unit: z.enum(['s', 'ms']).optional(),
  workers: z.union([z.literal('auto'), z.int().min(1)]).optional(),
  exact: z.strictObject({}).optional(),
  code: z.string().regex(/^\d+$/).max(3).optional(),
  even: z.int().multipleOf(2).lt(9).optional(),
  either: z.union([z.string(), z.boolean()]).optional(),
  kind: z.literal('a', 'must be "a", which is the only kind').optional(),
});
const GOOD = { name: 'n', images: [{ width: 1, id: 3 }] };

describe('checkedForm', () => {
  it('gives what has the form', () => {
    expect(checkedForm(FORM, { ...GOOD, more: 1 })).toEqual({ data: GOOD });
  });

  it.each([
    [[], 'the file must be an object with keys; it is []'],
    [null, 'the file must be an object with keys; it is null'],
    [{ name: 'n' }, 'images must be a list; there is none'],
    [{ ...GOOD, name: '' }, 'name must be a non-empty text; it is ""'],
    [{ ...GOOD, images: 'all' }, 'images must be a list; it is "all"'],
    [{ ...GOOD, images: [{ width: 0, id: 1 }] }, 'images[0].width must be above 0; it is 0'],
    [
      { ...GOOD, images: [{ width: 1, id: 1.5 }] },
      'images[0].id must be a whole number; it is 1.5',
    ],
    [{ ...GOOD, images: [{ width: 1, id: -1 }] }, 'images[0].id must be 0 or more; it is -1'],
    [{ ...GOOD, images: [{ width: 1, id: 10 }] }, 'images[0].id must be 9 or less; it is 10'],
    [{ ...GOOD, kind: 'b' }, 'kind must be "a", which is the only kind'],
    [{ ...GOOD, unit: 'h' }, 'unit must be one of: s, ms; it is "h"'],
    [{ ...GOOD, workers: 0 }, 'workers must be 1 or more; it is 0'],
    [{ ...GOOD, exact: { b: 1 } }, 'exact has unknown keys: b; it is {"b":1}'],
    [{ ...GOOD, code: 'x' }, 'code must match /^\\d+$/; it is "x"'],
    [{ ...GOOD, even: 3 }, 'even must be a multiple of 2; it is 3'],
    [{ ...GOOD, even: 12 }, 'even must be below 9; it is 12'],
    [{ ...GOOD, code: '1234' }, 'code must be 3 characters or less; it is "1234"'],
    [{ ...GOOD, either: {} }, 'either has an unknown form; it is {}'],
    [
      { ...GOOD, name: Array(40).fill(7) },
      'name must be a text; it is [7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7 ...',
    ],
  ])('tells what is wrong with %j', (value, wrong) => {
    expect(checkedForm(FORM, value)).toEqual({ wrong });
  });
});
