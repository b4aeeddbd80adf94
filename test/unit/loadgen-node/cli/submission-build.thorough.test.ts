/*
 * Goal: every command that a build prints works as it is printed, in every round. Method: a tree of
 * each round by the verb, its folder with a blank in its name; then the printed lines, in their
 * order.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { submissionVerb } from '../../../../loadgen-node/cli/submission.ts';
import { ROUNDS } from '../../../../shared/rules/rounds/rounds.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';
import { verbHere } from '../../../scenes/host/processes.ts';
import { casesOf } from '../../../scenes/host/thorough.ts';
import { prepareScene } from '../../../scenes/submission-tree/built-tree.ts';

const SCENE = {
  divisions: ['open'],
  scenarios: ['Offline'],
  tests: [],
  systemType: 'edge',
} as const;

/** Words of a line as a shell takes them, behind the name of the program. */
function wordsBehindProgram(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
  return words.slice(words.indexOf('submission') + 1) as string[];
}

/** The newest first: its seeds are those of the round before. */
const NEWEST_FIRST = [...ROUNDS].reverse();

it.each(casesOf(NEWEST_FIRST, 1))(
  'prints commands for a tree of %s that work as they are',
  async (round) => {
    const folder = tempFolder();
    const { build } = await prepareScene({ ...SCENE, folder, round });
    await build();
    const tree = join(folder, 'a tree');
    const config = join(folder, 'submission.yaml');
    const built = await verbHere(submissionVerb, 'build', '--config', config, '--output', tree);
    expect(built.code).toBe(0);
    const next = built.stdout
      .slice(built.stdout.indexOf('Next:\n') + 6)
      .trimEnd()
      .split('\n');
    const lines = next.map((line) => wordsBehindProgram(line));
    expect(lines.map(([verb]) => verb)).toEqual(
      round === 'v0.5' ? ['check', 'pack'] : ['truncate', 'check', 'pack'],
    );
    for (const words of lines) {
      expect(words.slice(1)).toEqual(expect.arrayContaining([tree, '--round', round]));
      // In the folder of the test, not in the one where it was started.
      const isPath = (word: string): boolean => /^(?:originals|ACME\.)/.test(word);
      const placed = words.map((word) => (isPath(word) ? join(folder, word) : word));
      const { code, stdout, stderr } = await verbHere(submissionVerb, ...placed);
      expect(code, `${words.join(' ')}: ${stdout}${stderr}`).toBe(0);
    }
  },
  60_000,
);
