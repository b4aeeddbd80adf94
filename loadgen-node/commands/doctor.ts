import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul doctor`. */
export function doctorCommand(_setExitCode: (code: number) => void): Command {
  return createCommand('doctor', 'look at machine, link and nodes before a run');
}
