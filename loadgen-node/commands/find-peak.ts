import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul find-peak`. */
export function findPeakCommand(_setExitCode: (code: number) => void): Command {
  return createCommand(
    'find-peak',
    'find the largest load that keeps the latency bound, and what limits it',
  );
}
