import { CommandHost } from '../run/host/host.ts';
import { PACK_SETTINGS, packChecked, type TreeCheck } from '../submission/pack/pack-checked.ts';
import { type MakeCommand, verb } from './verb.ts';

/**
 * `longhaul submission pack`.
 * @param check Checks the tree for problems.
 */
export function packVerb(check: TreeCheck): MakeCommand {
  return verb({
    takes: { '<tree>': 'root of the tree: the folder with closed/, network/, open/' },
    settings: PACK_SETTINGS,
    example: `
Examples:
  longhaul submission pack tree --output acme.tar.gz.age --new-key-file acme.key
  age --decrypt -i acme.key acme.tar.gz.age | tar -xz

  longhaul submission pack tree --output acme.tar.gz --encryption openssl --new-key-file acme.key
  openssl enc -d -aes256 -pass file:acme.key -in acme.tar.gz | tar -xz

Beside the tarball: FILE.sha256 and FILE.sha1 of it (sha256sum -c), FILE.SHA256SUMS of what is in it
(sha256sum -c where it was unpacked). The key is never printed and never packed. It is needed to
decrypt the tarball: keep it, and give it only to those who may read the submission.

Exit codes: 0 packed, 3 the check found errors and nothing was packed, 2 wrong flag, no tree, or
files in it that cannot be submitted, 6 the tarball cannot be written or exists already.`,
    action: async ({ values }, tree: string) => {
      const parts = { check, host: new CommandHost() };
      const { isPacked, ...result } = await packChecked(tree, values, parts);
      return { ...result, isGood: isPacked };
    },
  });
}
