import { basename } from 'node:path';

/** How longhaul was called, for lines that are to be copied: `longhaul`, `npx longhaul` in a clone, or its file. */
export function ownCommand(
  env: Readonly<Record<string, string | undefined>> = process.env,
  script: string | undefined = process.argv[1],
): string {
  if (env['npm_command'] === 'exec') return 'npx longhaul';
  return script !== undefined && basename(script) === 'main.js' ? `node ${script}` : 'longhaul';
}
