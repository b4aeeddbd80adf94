import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul report`. */
export function reportCommand(_setExitCode: (code: number) => void): Command {
  return createCommand(
    'report',
    'derive all figures of a run from its records again, and write its report',
  );
}
