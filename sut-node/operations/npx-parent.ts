const LOOK_MS = 500;

/** Names of our programs as npx is told them; npm quotes what it hands to its shell. */
const OWN_PROGRAM = /^['"]?longhaul(?:-sut|-loadgen)?(?:['"\s@]|$)/;

/**
 * Tells when npx, which started this process, is gone. npx runs a program as a child of a shell: a SIGTERM ends npx and its
 * shell, and the program itself never hears of it. A process that was started in another way may outlive its parent (nohup,
 * setsid, a supervisor) and is never told anything.
 * @param onGone Called once, within half a second. The look does not keep the process alive.
 */
export function watchNpx(
  onGone: () => void,
  env: NodeJS.ProcessEnv = process.env,
  parentOf: () => number = () => process.ppid,
): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = env;
  if (event !== 'npx' || !OWN_PROGRAM.test(script)) return;
  const parent = parentOf();
  const timer = setInterval(() => {
    if (parentOf() === parent) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}
