import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';

// Goal: whoever measures a setting has the programs that measure.py starts, and flags of Node.js reach it in an image.
// Method: the files that the script names against the tree, the page's command lines against the images' entrypoints; the script
// itself runs in `npm run test:deploy`.

const REPOSITORY = join(distFolder(), '..');

it('measure.py names files that are there', () => {
  const script = readFileSync(join(REPOSITORY, 'deploy/tuning/measure.py'), 'utf8');
  const named = [...script.matchAll(/REPOSITORY \/ "([^"]+)"/g)].map(([, file = '']) => file);
  expect(named).toContain('deploy/two-hosts/tap-link.py');
  expect(named.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
});

it.each(['sut', 'loadgen'])('tuning.md starts longhaul as the image of %s has it', (half) => {
  const dockerfile = readFileSync(join(REPOSITORY, `deploy/docker/Dockerfile.${half}`), 'utf8');
  const [, list = ''] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const [init, dashes, program] = JSON.parse(list) as string[];
  const [, node] = /^COPY --from=build \S+\/bin\/node (\S+)$/m.exec(dockerfile) ?? [];
  const page = readFileSync(join(REPOSITORY, 'deploy/tuning.md'), 'utf8').replace(/\\\n */g, '');
  const flagged = [dashes, node, ...NODE_FLAGS, '--single-threaded-gc', program];
  expect(page).toContain(`--entrypoint ${init} longhaul-loadgen:VERSION ${flagged.join(' ')} run`);
  expect(page).toContain(`command: [${[init, ...flagged].join(', ')}]`);
});
