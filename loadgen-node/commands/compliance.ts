import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul compliance`: the tests that a closed or network submission has to pass. */
export function complianceCommand(_setExitCode: (code: number) => void): Command {
  return createCommand('compliance', 'run and verify a compliance test');
}
