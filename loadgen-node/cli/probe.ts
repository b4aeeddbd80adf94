import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { PROBE_SETTINGS, probeServer } from '../operate/probe/probe-server.ts';

const EXAMPLE = `
Examples:
  longhaul probe oip://10.0.0.4:8001
  longhaul probe oip://10.0.0.4:8001 --model resnet50 --output run.yaml
  longhaul run --config run.yaml

Asks and prints what there is: no inference, no load. docs/open-inference-protocol.md

Exit codes: 0 the server answers, 2 wrong flag, 4 no answer, another service, or no such model, 6 the file cannot be written.`;

/** `longhaul probe`: what a server of the Open Inference Protocol has, and a run against it. */
export function probeCommand(): Command {
  const about = 'show the models of a server of the Open Inference Protocol, and a run for each';
  const command = createCommand('probe', about).argument('<address>', 'oip://host:port');
  return addJson(addFlags(command, PROBE_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (address: string) => {
      const { values } = settingsOf(command, undefined, PROBE_SETTINGS);
      writeResult(command, await probeServer(address, values));
    });
}
