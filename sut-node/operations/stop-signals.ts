import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { watchNpx } from './npx-parent.ts';

/** Signals that ask for the end, and the code of a process that ends by them without having finished. */
const SIGNALS: Readonly<Record<string, number>> = {
  SIGTERM: EXIT.terminated,
  SIGINT: EXIT.interrupted,
};

/**
 * Who asked the process to end: SIGTERM, Ctrl-C, or a parent that is gone. The first time is a request, the
 * second one is impatience; a third signal finds no handler, so the system ends the process.
 */
export class StopSignals {
  /** Resolves when the end was asked for, with the exit code for work that was broken off. */
  readonly first: Promise<number>;
  /** Resolves when it was asked for once more. */
  readonly second: Promise<number>;

  constructor() {
    let resolveFirst = (_code: number): void => {};
    let resolveSecond = (_code: number): void => {};
    this.first = new Promise((resolve) => {
      resolveFirst = resolve;
    });
    this.second = new Promise((resolve) => {
      resolveSecond = resolve;
    });
    let count = 0;
    const onSignal = (name: NodeJS.Signals): void => {
      count += 1;
      const code = SIGNALS[name] ?? EXIT.terminated;
      if (count === 1) {
        resolveFirst(code);
        return;
      }
      for (const one of Object.keys(SIGNALS)) process.off(one, onSignal);
      resolveSecond(code);
    };
    for (const name of Object.keys(SIGNALS)) process.on(name, onSignal);
    // A parent process that is gone asks once, by its nature.
    process.once('disconnect', () => resolveFirst(EXIT.terminated));
    watchNpx(() => resolveFirst(EXIT.terminated));
  }
}
