import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul submission build`. */
export function submissionBuildCommand(): Command {
  return createCommand('build', 'assemble a submission tree from runs');
}
