import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul compare`. */
export function compareCommand(_setExitCode: (code: number) => void): Command {
  return createCommand('compare', 'compare runs, with confidence intervals');
}
