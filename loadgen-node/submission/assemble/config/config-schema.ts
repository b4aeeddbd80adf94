import { z } from 'zod';
import { parseRate } from '../../../samples/bandwidth/link-rate.ts';
import { SUBMISSION_DIVISIONS, SUBMISSION_ROUNDS } from '../../rules/submission-rounds.ts';
import { SOFTWARE_METHODS, type SubmissionEntry } from './config-types.ts';

const TEXT_MESSAGE = 'must be a text that is not empty (a number needs quotes)';
const text = z.string(TEXT_MESSAGE).trim().min(1, TEXT_MESSAGE);

const NAME_MESSAGE =
  'must be a name of letters, digits and _ . + - that begins with a letter or a digit';
const name = z.string(NAME_MESSAGE).regex(/^[A-Za-z0-9][A-Za-z0-9_.+-]*$/, NAME_MESSAGE);

const words = <const T extends readonly [string, ...string[]]>(list: T) =>
  z.enum(list, { error: `must be one of: ${list.join(', ')}` });

const object = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'invalid_type'
        ? `must be a map of: ${Object.keys(shape).join(', ')}`
        : undefined,
  });

const list = <T extends z.ZodType>(of: T, what: string) => z.array(of, `must be a list of ${what}`);

const named = <T extends z.ZodType>(of: T) =>
  z
    .record(name, of, 'must be a map: a name, then what it names')
    .refine((map) => Object.keys(map).length > 0, 'must name at least one');

const SHA256_MESSAGE = 'must be the 64 hexadecimal digits of a SHA-256, in quotes';

const weights = object({
  file: text.optional(),
  source: text.optional(),
  sha256: z
    .string(SHA256_MESSAGE)
    .regex(/^[0-9a-fA-F]{64}$/, SHA256_MESSAGE)
    .optional(),
  bytes: z.int('must be a number of bytes').positive('must be above 0').optional(),
})
  .refine(
    ({ file, source }) => file !== undefined || source !== undefined,
    'must have "file", "source" or both',
  )
  .refine(
    ({ file, sha256 }) => file !== undefined || sha256 !== undefined,
    'must have "sha256": weights that are not in the tree are known by it',
  );

const software = object({
  name: text,
  version: text.optional(),
  method: words(SOFTWARE_METHODS),
  identifier: text.optional(),
  release: words(['production', 'beta', 'other']).optional(),
});

const textEntry = object({ text: text.optional(), file: text.optional() }).refine(
  (entry) => (entry.text === undefined) !== (entry.file === undefined),
  'must have either "text" or "file"',
);

const implementation = object({
  code: list(text, 'paths').default([]),
  scripts: list(text, 'paths').default([]),
  run_commands: text.optional(),
  weights: list(weights, 'weights'),
  software: list(software, 'components').default([]),
  calibration: textEntry,
  starting_weights_filename: text,
  weight_data_types: text,
  weight_transformations: text,
  input_data_types: text,
  retraining: text,
  batching: text.optional(),
});

const RATE_MESSAGE = 'must be the rate of one link such as 100G, 25 Gbit/s or 800 Mbit/s';

const network = object({
  sut_nodes: list(name, 'names of the SUT nodes').min(1, 'must name at least one SUT node'),
  components: list(
    object({
      id: name,
      kind: words(['switch', 'router', 'load-balancer', 'access-point', 'other']),
      name: text,
    }),
    'components',
  ).default([]),
  links: list(
    object({
      from: name,
      to: name,
      media: text,
      rate: z.string(RATE_MESSAGE).refine((rate) => parseRate(rate) !== undefined, RATE_MESSAGE),
      count: z.int('must be a number of links').positive('must be 1 or more').default(1),
    }),
    'links',
  ).min(1, 'must have at least one link'),
  notes: text.optional(),
});

const system = object({
  file: text,
  network: network.optional(),
  data_path: text.optional(),
  data_path_evidence: text.optional(),
});

const scenario = words(['Server', 'Offline', 'SingleStream', 'MultiStream', 'Interactive']);
const division = words(SUBMISSION_DIVISIONS);
const TESTS = ['TEST01', 'TEST04', 'TEST05', 'TEST06', 'TEST07', 'TEST08', 'TEST09'] as const;
const tests = object(Object.fromEntries(TESTS.map((test) => [test, text.optional()])));

const result = object({
  division: division.optional(),
  divisions: list(division, 'divisions')
    .min(1, 'must name a division')
    .refine((all) => new Set(all).size === all.length, 'must not name a division twice')
    .optional(),
  system: name,
  implementation: name,
  model: name,
  reference_model: name.optional(),
  scenario,
  performance: text.optional(),
  accuracy: text.optional(),
  compliance: z
    .union([text, tests], 'must be a folder, or a map such as { TEST01: folder, TEST04: folder }')
    .optional(),
  compliance_runs: tests.optional(),
  inferred_from: scenario.optional(),
  user_conf: text.optional(),
  batching: text.optional(),
})
  .refine(
    (entry) => (entry.division === undefined) !== (entry.divisions === undefined),
    'must have either "division" or "divisions"',
  )
  .refine(
    ({ inferred_from, performance, accuracy }) =>
      inferred_from === undefined
        ? performance !== undefined && accuracy !== undefined
        : performance === undefined && accuracy === undefined,
    'must have "performance" and "accuracy", or "inferred_from" and neither of them',
  )
  .transform(({ division: one, divisions, ...rest }) => ({
    ...rest,
    divisions: divisions ?? (one === undefined ? [] : [one]),
  }));

/** Form of the configuration file of `longhaul submission build`; unknown keys are refused. */
export const submissionSchema: z.ZodType<{ readonly submission: SubmissionEntry }> = object({
  submission: object({
    submitter: name,
    round: words(SUBMISSION_ROUNDS as [string, ...string[]])
      .default('v4.1')
      .transform((round) => round as SubmissionEntry['round']),
    systems: named(system),
    implementations: named(implementation),
    results: list(result, 'results').min(1, 'must have at least one result'),
  }),
}) as z.ZodType<{ readonly submission: SubmissionEntry }>;
