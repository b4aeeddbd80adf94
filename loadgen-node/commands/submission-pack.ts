import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul submission pack`. */
export function submissionPackCommand(): Command {
  return createCommand('pack', 'pack a tree for the upload');
}
