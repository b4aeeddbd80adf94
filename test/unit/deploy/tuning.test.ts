import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { distFolder } from '../../../shared/process/package-files.ts';

// Goal: whoever measures a setting has the programs that measure.py starts.
// Method: the files that it names against the tree; the script itself runs in `npm run test:deploy`.

const REPOSITORY = join(distFolder(), '..');

it('measure.py names files that are there', () => {
  const script = readFileSync(join(REPOSITORY, 'deploy/tuning/measure.py'), 'utf8');
  const named = [...script.matchAll(/REPOSITORY \/ "([^"]+)"/g)].map(([, file = '']) => file);
  expect(named).toContain('deploy/two-hosts/tap-link.py');
  expect(named.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
});
