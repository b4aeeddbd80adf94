import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul sweep`. */
export function sweepCommand(_setExitCode: (code: number) => void): Command {
  return createCommand(
    'sweep',
    'search the peak over a grid of delays, rates and losses of the link',
  );
}
