import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul submission truncate`. */
export function submissionTruncateCommand(): Command {
  return createCommand(
    'truncate',
    'cut the accuracy logs of a tree as the rules want, and keep the originals',
  );
}
