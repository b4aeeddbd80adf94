import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX } from '../../../shared/base/files/read-file.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';
import type { ConfFile } from '../settings/from-config.ts';
import { readConfFiles } from '../settings/read-conf-files.ts';
import { defaultTestSettings, type TestSettings } from '../settings/test-settings.ts';
import { type LoadgenArgs, parseLoadgenArgs } from './loadgen-fields.ts';
import { argsSchema, librarySchema, readJsonFile } from './read-json-file.ts';

const traceFile: z.ZodType<{ args: LoadgenArgs; qsl: { total: number; performance: number } }> =
  z.object({ args: argsSchema, qsl: librarySchema }, 'must be an object with args and qsl');

/** What flags say of a trace. */
export interface TraceFlags {
  /** JSON file with args and qsl. */
  readonly args?: string;
  readonly scenario?: string;
  readonly mode?: string;
  readonly qslTotal?: number;
  readonly qslPerformance?: number;
  /** Fields of LoadGen, by name. */
  readonly set: Readonly<Record<string, string>>;
  /** Model of the configuration files. */
  readonly model?: string;
  readonly round: Round;
}

/** What is traced. */
export interface TraceInput {
  readonly settings: TestSettings;
  readonly library: { readonly totalSampleCount: number; readonly performanceSampleCount: number };
  /** Names that are no field of LoadGen. */
  readonly unknownNames: readonly string[];
}

/**
 * Settings and library of a trace: flags over their file, over the configuration files.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE`
 */
export function traceInput(flags: TraceFlags, userConf: ConfFile | undefined): TraceInput {
  const { args, library } = inputOf(flags);
  const { settings, unknownNames } = parseLoadgenArgs(args, baseOf(flags, userConf, args));
  return { settings, library, unknownNames };
}

/** Flags win over the file. */
function inputOf(options: TraceFlags): {
  args: LoadgenArgs;
  library: TraceInput['library'];
} {
  const file =
    options.args === undefined
      ? undefined
      : readJsonFile(options.args, traceFile, FILE_BYTES_MAX.settings);
  const totalSampleCount = options.qslTotal ?? file?.qsl.total;
  const performanceSampleCount = options.qslPerformance ?? file?.qsl.performance;
  if (totalSampleCount === undefined || performanceSampleCount === undefined) {
    const text = '--args FILE, or --qsl-total and --qsl-performance, are needed';
    throw configInvalid(text);
  }
  return {
    args: {
      ...file?.args,
      ...(options.scenario === undefined ? {} : { scenario: options.scenario }),
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...options.set,
    },
    library: { totalSampleCount, performanceSampleCount },
  };
}

/** LoadGen's defaults, or what the configuration files make of them. */
function baseOf(
  { model, round }: TraceFlags,
  userConf: ConfFile | undefined,
  args: LoadgenArgs,
): TestSettings {
  if (userConf === undefined && model === undefined) return defaultTestSettings();
  const { scenario } = parseLoadgenArgs(args).settings;
  const { settings, results } = readConfFiles({
    round,
    model: model ?? '*',
    scenario,
    userConf,
  });
  const problems = results.flatMap((result) => result.problems);
  if (problems.length > 0) throw configInvalid(problems.join('\n'));
  return settings.toTestSettings();
}
