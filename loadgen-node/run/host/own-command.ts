import { basename } from 'node:path';

/** npm's name of itself in `npx longhaul`, `npm start` and `npm run start`. */
const NPM_COMMANDS: readonly string[] = ['exec', 'start', 'run', 'run-script'];

/**
 * How longhaul was called, for lines to copy: `longhaul`, `npx longhaul` in a clone (also for
 * `npm start`), or its file.
 */
export function ownCommand(
  env: Readonly<Record<string, string | undefined>> = process.env,
  script: string | undefined = process.argv[1],
): string {
  if (NPM_COMMANDS.includes(env['npm_command'] ?? '')) return 'npx longhaul';
  return script !== undefined && basename(script) === 'main.js' ? `node ${script}` : 'longhaul';
}

/**
 * How to get the verbose output: the flag, or with `npm start`, which keeps flags for itself, the
 * whole command.
 */
export function verboseCommand(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return env['npm_lifecycle_event'] === 'start' ? 'npm start -- --verbose' : '--verbose';
}
