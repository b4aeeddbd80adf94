import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';
import { systemDescribeCommand } from './system-describe.ts';

/** `longhaul system`: what the machines of a run are. */
export function systemCommand(): Command {
  const command = createCommand('system', 'describe the machines of a run for a submission');
  return command.addCommand(systemDescribeCommand());
}
