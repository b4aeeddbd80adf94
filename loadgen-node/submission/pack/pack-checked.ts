import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { counted } from '../../../shared/base/text.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { choice, type SettingValues, text, toggle } from '../../../shared/config/setting.ts';
import type { RunHost } from '../../run/host/host.ts';
import { ownCommand } from '../../run/host/own-command.ts';
import { shellWord } from '../../run/plan/flag-text.ts';
import type { CheckFinding } from '../check/rules/rule.ts';
import { NOT_KNOWN, SUBMISSION_ROUNDS, type SubmissionRound } from '../rules/submission-rounds.ts';
import type { Encryption } from './encryption.ts';
import type { PackedTree } from './pack-tree.ts';

/** Maximum number of findings printed one by one. */
const TOLD_MAX = 20;

/** Fields of a self-check finding reported here. */
type Found = Pick<CheckFinding, 'id' | 'severity' | 'file' | 'seen'>;

/** The self-check of a tree. A tree with an `error` is not packed. */
export type TreeCheck = (
  tree: string,
  options: { readonly round?: SubmissionRound },
) => Promise<{ readonly findings: readonly Found[] }>;

/** Where a packing reports. */
type PackHost = Pick<RunHost, 'report' | 'progress'>;

/**
 * Packs a tree that passes the self-check; with `unchecked` any tree.
 * @returns `isPacked` is false if the check found errors.
 * @throws MlperfError `ERR_CONFIG_INVALID` for flags that exclude each other, `ERR_CONFIG_FILE`,
 *   `ERR_OUTPUT`
 */
export async function packChecked(
  tree: string,
  values: PackValues,
  { check, host }: { readonly check: TreeCheck; readonly host: PackHost },
): Promise<VerbResult & { readonly isPacked: boolean }> {
  const wrong = wrongKeyFlags(values);
  if (wrong !== undefined) throw new MlperfError('ERR_CONFIG_INVALID', wrong);
  // Loaded on demand: the tar and age libraries would slow down the start of every verb.
  const { packTree, sideFiles, checkPaths } = await import('./pack-tree.ts');
  const { output } = values;
  const keyFile = values.keyFile ?? values.newKeyFile;
  // Before the check, which reads every log of the tree.
  checkPaths({ tree, output, keyFile });
  const isChecked = !values.unchecked;
  const errors = isChecked ? await errorsOf(tree, values.round, check, host) : [];
  if (errors.length > 0) return { isPacked: false, text: '', json: { isPacked: false, errors } };
  host.progress?.(`packing ${tree}`);
  const encryption = (): Promise<Encryption | undefined> => encryptionOf(values, host);
  const packed = await packTree({ tree, output, encryption, keyFile });
  host.progress?.(null);
  const files = { tarball: output, ...sideFiles(output) };
  return {
    isPacked: true,
    text: packedText(packed, values, { isChecked, contents: files.contents }),
    json: { isPacked: true, files, ...packed, encryption: values.encryption, isChecked },
  };
}

/** Contradiction among the key flags, or a missing key; undefined if they are correct. */
function wrongKeyFlags(values: PackValues): string | undefined {
  const { keyFile, newKeyFile, recipient, encryption } = values;
  const keys = Object.values({ keyFile, newKeyFile, recipient }).filter(Boolean);
  if (keys.length > 1)
    return 'only one of --key-file, --new-key-file and --recipient can be the key';
  if (encryption !== 'age' && values.output.endsWith('.age')) {
    return `${values.output} would not be in the form of age, which its name says: name it otherwise`;
  }
  if (encryption === NOT_ENCRYPTED) {
    return keys.length === 0 ? undefined : '--encryption none takes no key';
  }
  if (keys.length === 0) {
    const flags = encryption === 'age' ? ', --key-file or --recipient' : ' or --key-file';
    return `the tarball has no key: name --new-key-file${flags}, or say --encryption none`;
  }
  if (recipient === undefined || encryption === 'age') return undefined;
  return '--recipient goes with --encryption age alone: openssl knows no public keys';
}

async function encryptionOf(
  { keyFile, newKeyFile, recipient, encryption }: PackValues,
  host: PackHost,
): Promise<Encryption | undefined> {
  if (encryption === NOT_ENCRYPTED) return undefined;
  const { ageEncryption, encryptionOfKeyFile, isReadByOthers, makeKeyFile } = await import(
    './encryption.ts'
  );
  if (recipient !== undefined) {
    return ageEncryption(recipient.split(',').map((one) => one.trim()));
  }
  if (newKeyFile !== undefined) await makeKeyFile(newKeyFile, encryption);
  const path = (newKeyFile ?? keyFile) as string;
  const made = await encryptionOfKeyFile(path, encryption);
  if (isReadByOthers(path)) {
    host.report(`${path}: others than its owner may read the key (chmod 600 ${path})`);
  }
  return made;
}

/** Reports the check's findings. @returns The errors, which prevent packing. */
async function errorsOf(
  tree: string,
  round: SubmissionRound | undefined,
  check: TreeCheck,
  host: PackHost,
): Promise<readonly Found[]> {
  host.progress?.(`checking ${tree}`);
  const { findings } = await check(tree, round === undefined ? {} : { round });
  host.progress?.(null);
  const errors = findings.filter(({ severity }) => severity === 'error');
  const marks = findings.filter(({ severity }) => severity === 'mark');
  for (const { severity, file, id, seen } of [...errors, ...marks].slice(0, TOLD_MAX)) {
    host.report(`${severity}: ${file}: ${seen} (${id})`);
  }
  if (errors.length === 0) return errors;
  const ofRound = round === undefined ? '' : ` --round ${round}`;
  const command = `${ownCommand()} submission check ${shellWord(tree)}${ofRound}`;
  const beside = marks.length === 0 ? '' : `, and ${counted(marks.length, 'mark')} beside them`;
  host.report(
    `Not packed: the check found ${counted(errors.length, 'error')}${beside} ("${command}" lists them; --unchecked packs as it is).`,
  );
  return errors;
}

function packedText(
  { fileCount, bytes, sha256, sha1 }: PackedTree,
  { output, encryption, keyFile, newKeyFile }: PackValues,
  { isChecked, contents }: { readonly isChecked: boolean; readonly contents: string },
): string {
  const key = keyFile ?? newKeyFile;
  const isEncrypted = encryption !== NOT_ENCRYPTED;
  const unpack = !isEncrypted
    ? `tar -xzf ${shellWord(output)}`
    : encryption === 'age'
      ? `age --decrypt -i ${shellWord(key ?? 'KEY')} ${shellWord(output)} | tar -xz`
      : `openssl enc -d -aes256 -pass file:${shellWord(String(key))} -in ${shellWord(output)} | tar -xz`;
  const lines = [
    `${output}: ${fileCount} files, ${bytes} bytes`,
    `SHA-256 ${sha256}`,
    `SHA-1   ${sha1}`,
    isEncrypted
      ? `encrypted: ${encryption}`
      : 'NOT encrypted: the upload wants an encrypted tarball (--new-key-file)',
    ...(isChecked ? [] : ['NOT checked: "longhaul submission check" says what is wrong with it']),
    `unpack: ${unpack}`,
    `then:   sha256sum -c ${shellWord(contents)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Value for a tarball without encryption. */
const NOT_ENCRYPTED = 'none';

/** Settings of `longhaul submission pack`. */
export const PACK_SETTINGS = {
  output: text(
    'file',
    'the tarball, for example acme.tar.gz.age; checksums are written beside it',
    {
      required: true,
    },
  ),
  encryption: choice(
    ['age', 'openssl', NOT_ENCRYPTED],
    "form of the encrypted tarball: age, or what the round's pack_submission.sh unpacks; none: not for an upload",
    { fallback: 'age' },
  ),
  keyFile: text(
    'file',
    'encrypt with this key file (age: an identity; openssl: a password in its first line)',
  ),
  newKeyFile: text('file', 'make a key file, readable for its owner alone, and encrypt with it'),
  recipient: text('key[,key...]', 'age: encrypt for the owners of these public keys (age1...)'),
  round: choice(
    SUBMISSION_ROUNDS,
    'round whose rules the check goes by (default: the one whose seeds the logs have)',
    { hints: NOT_KNOWN },
  ),
  unchecked: toggle('do not check the tree first'),
};

/** Effective values of {@link PACK_SETTINGS}. */
type PackValues = SettingValues<typeof PACK_SETTINGS>;
