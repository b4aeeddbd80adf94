import { ownCommand } from '../../run/host/own-command.ts';
import { shellWord } from '../../run/plan/flag-text.ts';
import type { BuiltTree } from './build-submission.ts';

/** Next commands, to copy. They name the round, since seeds do not always identify it. */
export function nextLines({ plan: { round, submitter } }: BuiltTree, tree: string): string {
  const verb = (name: string, flags: string): string =>
    `  ${ownCommand()} submission ${name} ${shellWord(tree)} --round ${round}${flags}\n`;
  // Round v0.5 truncates no log.
  const checked =
    round === 'v0.5'
      ? verb('check', '')
      : verb('truncate', ' --backup originals') + verb('check', ' --originals originals');
  const [tarball, key] = [`${submitter}.tar.gz.age`, `${submitter}.key`].map(shellWord);
  return `Next:\n${checked}${verb('pack', ` --output ${tarball} --new-key-file ${key}`)}`;
}
