import { EXIT } from './exit-codes.ts';
import { printText } from './terminal.ts';

const EXIT_OF_SIGNAL = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hungUp,
} as const;

const endings: (readonly [name: keyof typeof EXIT_OF_SIGNAL, end: () => void])[] = [];

/**
 * Ends the process at a signal while it loads, reads its flags and asks nodes, and reports that
 * nothing was lost. A verb that installs its own handlers replaces this.
 */
export function takeStartSignals(): void {
  for (const [name, exitCode] of Object.entries(EXIT_OF_SIGNAL)) {
    const signal = name as keyof typeof EXIT_OF_SIGNAL;
    const end = (): void => {
      if (process.listenerCount(signal) > 1) return;
      const text = 'interrupted at the start: nothing was measured, and no file was written';
      printText(process.stderr, `longhaul: ${text}\n`);
      process.exit(exitCode);
    };
    endings.push([signal, end]);
    process.on(signal, end);
  }
}

/** Leaves signals to the verb that begins its work, or to Node.js. */
export function leaveStartSignals(): void {
  for (const [signal, end] of endings.splice(0)) process.off(signal, end);
}
