import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul submission check`. */
export function submissionCheckCommand(_setExitCode: (code: number) => void): Command {
  return createCommand(
    'check',
    'check a tree by all rules that are known, official and of the Network division',
  );
}
