import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul system`: what the machines of a run are. */
export function systemCommand(): Command {
  return createCommand('system', 'describe the machines of a run for a submission');
}
