import { Deferred } from '../../shared/base/async.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';

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
    const asked = new Deferred<number>();
    const again = new Deferred<number>();
    this.first = asked.promise;
    this.second = again.promise;
    let count = 0;
    const onSignal = (name: NodeJS.Signals): void => {
      count += 1;
      const code = SIGNALS[name] ?? EXIT.terminated;
      if (count === 1) {
        asked.resolve(code);
        return;
      }
      for (const one of Object.keys(SIGNALS)) process.off(one, onSignal);
      again.resolve(code);
    };
    for (const name of Object.keys(SIGNALS)) process.on(name, onSignal);
    // A parent process that is gone asks once, by its nature.
    process.once('disconnect', () => asked.resolve(EXIT.terminated));
    watchNpx(() => asked.resolve(EXIT.terminated));
  }
}

const LOOK_MS = 500;

/** Names of our programs as npx is told them; npm quotes what it hands to its shell. */
const OWN_PROGRAM = /^['"]?longhaul(?:-sut|-loadgen)?(?:['"\s@]|$)/;

/**
 * Tells when npx, which started this process, is gone. npx runs a program as a child of a shell: a SIGTERM ends npx and its
 * shell, and the program itself never hears of it. A process that was started in another way may outlive its parent (nohup,
 * setsid, a supervisor) and is never told anything.
 * @param onGone Called once, within half a second. The look does not keep the process alive.
 */
function watchNpx(onGone: () => void): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env;
  if (event !== 'npx' || !OWN_PROGRAM.test(script)) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}
