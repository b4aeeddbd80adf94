import { z } from 'zod';
import type { Setting } from '../../../shared/config/setting.ts';
import { readThreshold, type Threshold } from './condition.ts';

/** Thresholds of a run: a list in a file, a flag that is said once for each on the command line. */
export function thresholdList(help: string): Setting<Threshold[] | undefined> {
  const one = z.string('must be a condition, for example p99 < 15ms').transform((text, context) => {
    const threshold = readThreshold(text);
    if (typeof threshold !== 'string') return threshold;
    context.addIssue({ code: 'custom', message: threshold });
    return z.NEVER;
  });
  return {
    help,
    placeholder: 'condition',
    flagKey: 'threshold',
    schema: z.array(one, 'must be a list of conditions, for example [p99 < 15ms, errors == 0]'),
    isList: true,
    fromFlag: (value) => value.split(',').map((part) => part.trim()),
    fallback: undefined,
    isRequired: false,
  };
}
