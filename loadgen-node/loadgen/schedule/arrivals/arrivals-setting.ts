import { z } from 'zod';
import type { Setting } from '../../../../shared/config/setting.ts';
import type { ArrivalsAsked } from './arrivals.ts';
import { parseArrivals } from './parse-arrivals.ts';

/** Arrivals of a Server run as a setting, with the text that they were asked for by. */
export interface ArrivalsSetting {
  readonly text: string;
  readonly asked: ArrivalsAsked;
}

/** The setting `arrivals`: a text in a file and on the command line. */
export function arrivalsSetting(help: string): Setting<ArrivalsSetting> {
  const schema = z.string('must be a text, for example constant').transform((given, context) => {
    const text = given.trim();
    const asked = parseArrivals(text);
    if (typeof asked !== 'string') return { text, asked };
    context.addIssue({ code: 'custom', message: asked });
    return z.NEVER;
  });
  return {
    help,
    placeholder: 'arrivals',
    schema,
    fromFlag: (text) => text,
    fallback: 'poisson',
    isRequired: false,
  };
}
