import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';

/** `longhaul efficiency`. */
export function efficiencyCommand(_setExitCode: (code: number) => void): Command {
  return createCommand(
    'efficiency',
    'measure the same model in process and over the network, and what the network costs',
  );
}
