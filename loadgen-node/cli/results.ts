import type { Command } from 'commander';
import { z } from 'zod';
import { readJsonFile } from '../../shared/base/files/read-json-file.ts';
import { addJson } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { buildResults, measuredSchema } from '../loadgen/conformance/results.ts';
import { argsSchema, librarySchema, parseLoadgenArgs } from '../loadgen/conformance/trace-input.ts';
import {
  addLoadgenOptions,
  type LoadgenOptions,
  loadgenOfOptions,
  warnOfUnknown,
} from './conformance-options.ts';

const EXAMPLE = `
Example:
  longhaul results --input golden.json --round v6.1`;

interface ResultsOptions extends LoadgenOptions {
  readonly input: string;
}

const resultsFile = z.object(
  { args: argsSchema, qsl: librarySchema, input: measuredSchema },
  'must be an object with args, qsl and input',
);

/** `longhaul results`: what LoadGen would make of measurements, as JSON. Needs no SUT. */
export function resultsCommand(): Command {
  const command = createCommand(
    'results',
    'print what LoadGen makes of measurements, as JSON',
  ).requiredOption('--input <file>', 'JSON file with args (LoadGen field names), qsl and input');
  // What it prints is JSON with and without the flag.
  return addJson(addLoadgenOptions(command))
    .addHelpText('after', EXAMPLE)
    .action(() => {
      const options = command.opts<ResultsOptions>();
      const { args, qsl, input } = readJsonFile(options.input, resultsFile);
      const { settings, unknownNames } = parseLoadgenArgs(args);
      const results = buildResults({
        settings,
        library: { totalSampleCount: qsl.total, performanceSampleCount: qsl.performance },
        loadgen: loadgenOfOptions(options),
        measured: input,
      });
      warnOfUnknown(unknownNames);
      process.stdout.write(`${JSON.stringify(results)}\n`);
    });
}
