import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';
import { checkTree } from '../submission/check/check-tree.ts';
import { submissionBuildCommand } from './submission-build.ts';
import { submissionCheckCommand } from './submission-check.ts';
import { submissionPackCommand } from './submission-pack.ts';
import { submissionTruncateCommand } from './submission-truncate.ts';

/** `longhaul submission`: from results to a tree that can be handed in. */
export function submissionCommand(setExitCode: (code: number) => void): Command {
  return createCommand('submission', 'build, truncate, check and pack a submission tree')
    .addCommand(submissionBuildCommand())
    .addCommand(submissionTruncateCommand(setExitCode))
    .addCommand(submissionCheckCommand(setExitCode))
    .addCommand(submissionPackCommand(setExitCode, checkTree));
}
