import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const FAULTS = z.array(
  z.strictObject({
    /** Says in a few words what goes wrong. */
    id: z.string(),
    file: z.string(),
    /** Stands in the file exactly once. */
    from: z.string(),
    to: z.string(),
  }),
);

/** A fault that a test has to find: `from` is replaced by `to` in `file`. */
export type PlantedFault = z.infer<typeof FAULTS>[number];

/** Reads the list of faults. @throws ZodError for an entry of another form. */
export function readPlantedFaults(path: string): PlantedFault[] {
  return FAULTS.parse(parse(readFileSync(path, 'utf8')));
}
