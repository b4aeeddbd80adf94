import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { choice, optional, type Setting, text, toggle } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import type { Encryption } from '../submission/pack/encryption.ts';
import { ENCRYPTIONS, type EncryptionName } from '../submission/pack/encryption-names.ts';
import type { PackedTree } from '../submission/pack/pack-tree.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../submission/rules/submission-rounds.ts';

/** Findings that are printed; of more the number. */
const TOLD_MAX = 20;

/** Says that the tarball is to be readable for everybody. */
const NONE = 'none';

type EncryptionChoice = EncryptionName | typeof NONE;

const PACK_SETTINGS: {
  readonly output: Setting<string>;
  readonly encryption: Setting<EncryptionChoice>;
  readonly keyFile: Setting<string | undefined>;
  readonly newKeyFile: Setting<string | undefined>;
  readonly recipient: Setting<string | undefined>;
  readonly round: Setting<SubmissionRound | undefined>;
  readonly unchecked: Setting<boolean>;
} = {
  output: text(
    'file',
    'the tarball, for example acme.tar.gz.age; checksums are written beside it',
    {
      required: true,
    },
  ),
  encryption: choice(
    [...ENCRYPTIONS, NONE],
    "form of the encrypted tarball: age, or what the round's pack_submission.sh unpacks; none: not for an upload",
    { fallback: 'age' },
  ),
  keyFile: optional(
    text(
      'file',
      'encrypt with this key file (age: an identity; openssl: a password in its first line)',
    ),
  ),
  newKeyFile: optional(
    text('file', 'make a key file, readable for its owner alone, and encrypt with it'),
  ),
  recipient: optional(
    text('key[,key...]', 'age: encrypt for the owners of these public keys (age1...)'),
  ),
  round: optional(
    choice(
      SUBMISSION_ROUNDS,
      'round whose rules the check goes by (default: the one whose seeds the logs have)',
    ),
  ),
  unchecked: toggle('do not check the tree first'),
};

const EXAMPLE = `
Examples:
  longhaul submission pack tree --output acme.tar.gz.age --new-key-file acme.key
  age --decrypt -i acme.key acme.tar.gz.age | tar -xz

  longhaul submission pack tree --output acme.tar.gz --encryption openssl --new-key-file acme.key
  openssl enc -d -aes256 -pass file:acme.key -in acme.tar.gz | tar -xz

Beside the tarball: FILE.sha256 and FILE.sha1 of it (sha256sum -c), FILE.SHA256SUMS of what is in it (sha256sum -c where
it was unpacked). The key is never printed and never packed: who has it can read everything, and without it nobody can.

Exit codes: 0 packed, 3 the check found errors and nothing was packed, 2 wrong flag, no tree, or files in it that cannot
be handed in, 6 the tarball cannot be written or is there already.`;

interface PackValues {
  readonly output: string;
  readonly encryption: EncryptionChoice;
  readonly keyFile: string | undefined;
  readonly newKeyFile: string | undefined;
  readonly recipient: string | undefined;
  readonly round: SubmissionRound | undefined;
  readonly unchecked: boolean;
}

/** What the self-check found, as far as it is told here. */
interface Found {
  readonly id: string;
  /** Of an error nothing is packed; neither warnings nor notices are told, everything else is. */
  readonly severity: string;
  readonly file: string;
  readonly seen: string;
}

/** The self-check of a tree. */
export type TreeCheck = (
  tree: string,
  options: { readonly round?: SubmissionRound },
) => Promise<{ readonly findings: readonly Found[] }>;

/**
 * `longhaul submission pack`.
 * @param check Says what is wrong with the tree.
 */
export function submissionPackCommand(
  setExitCode: (code: number) => void,
  check: TreeCheck,
): Command {
  const command = createCommand(
    'pack',
    'pack a tree for the upload: all divisions, with checksums, encrypted',
  ).argument('<tree>', 'root of the tree: the folder with closed/, network/, open/');
  return addJson(addFlags(command, PACK_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (tree: string) => {
      const { values } = settingsOf(command, undefined, PACK_SETTINGS);
      const host = new CommandHost();
      checkKeyFlags(values);
      // Loaded when it is needed: the libraries of tar and age would make every verb start later.
      const { packTree, sideFiles, checkPaths } = await import('../submission/pack/pack-tree.ts');
      const keyFile = values.keyFile ?? values.newKeyFile;
      // Before the check, which reads every log of the tree.
      checkPaths({ tree, output: values.output, keyFile });
      const isChecked = !values.unchecked;
      const errors = isChecked ? await errorsOf(tree, values.round, check, host) : [];
      if (errors.length > 0) {
        writeResult(command, { text: '', json: { isPacked: false, errors } });
        setExitCode(EXIT.invalid);
        return;
      }
      host.progress(`packing ${tree}`);
      const encryption = (): Promise<Encryption | undefined> => encryptionOf(values, host);
      const packed = await packTree({ tree, output: values.output, encryption, keyFile });
      host.progress(null);
      const files = { tarball: values.output, ...sideFiles(values.output) };
      writeResult(command, {
        text: packedText(packed, values, { isChecked, contents: files.contents }),
        json: { isPacked: true, files, ...packed, encryption: values.encryption, isChecked },
      });
    });
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for flags that cannot be together, and where nobody named a key. */
function checkKeyFlags(values: PackValues): void {
  const wrong = wrongKeyFlags(values);
  if (wrong !== undefined) throw new MlperfError('ERR_CONFIG_INVALID', wrong);
}

function wrongKeyFlags(values: PackValues): string | undefined {
  const { keyFile, newKeyFile, recipient, encryption } = values;
  const keys = Object.values({ keyFile, newKeyFile, recipient }).filter(Boolean);
  if (keys.length > 1)
    return 'only one of --key-file, --new-key-file and --recipient can be the key';
  if (encryption !== 'age' && values.output.endsWith('.age')) {
    return `${values.output} would not be in the form of age, which its name says: name it otherwise`;
  }
  if (encryption === NONE) {
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
  host: CommandHost,
): Promise<Encryption | undefined> {
  if (encryption === NONE) return undefined;
  if (recipient !== undefined) {
    const { ageEncryption } = await import('../submission/pack/encryption.ts');
    return ageEncryption(recipient.split(',').map((one) => one.trim()));
  }
  const { encryptionOfKeyFile, isReadByOthers, makeKeyFile } = await import(
    '../submission/pack/key-file.ts'
  );
  if (newKeyFile !== undefined) await makeKeyFile(newKeyFile, encryption);
  const path = (newKeyFile ?? keyFile) as string;
  const made = await encryptionOfKeyFile(path, encryption);
  if (isReadByOthers(path)) {
    host.report(`${path}: others than its owner may read the key (chmod 600 ${path})`);
  }
  return made;
}

/** Tells what the check found. @returns What keeps the tree from being packed. */
async function errorsOf(
  tree: string,
  round: SubmissionRound | undefined,
  check: TreeCheck,
  host: CommandHost,
): Promise<readonly Found[]> {
  host.progress(`checking ${tree}`);
  const { findings } = await check(tree, round === undefined ? {} : { round });
  host.progress(null);
  const errors = findings.filter(({ severity }) => severity === 'error');
  const told = findings.filter(({ severity }) => !['warning', 'notice'].includes(severity));
  for (const { file, id, seen } of told.slice(0, TOLD_MAX)) {
    host.report(`${file}: ${seen} (${id})`);
  }
  if (errors.length === 0) return errors;
  host.report(
    `Nothing was packed. Errors that the check found: ${errors.length} ("longhaul submission check ${tree}" tells all; --unchecked packs as it is).`,
  );
  return errors;
}

function packedText(
  { fileCount, bytes, sha256, sha1 }: PackedTree,
  { output, encryption, keyFile, newKeyFile }: PackValues,
  { isChecked, contents }: { readonly isChecked: boolean; readonly contents: string },
): string {
  const key = keyFile ?? newKeyFile;
  const isEncrypted = encryption !== NONE;
  const unpack = !isEncrypted
    ? `tar -xzf ${output}`
    : encryption === 'age'
      ? `age --decrypt -i ${key ?? 'KEY'} ${output} | tar -xz`
      : `openssl enc -d -aes256 -pass file:${key} -in ${output} | tar -xz`;
  const lines = [
    `${output}: ${fileCount} files, ${bytes} bytes`,
    `SHA-256 ${sha256}`,
    `SHA-1   ${sha1}`,
    isEncrypted
      ? `encrypted: ${encryption}`
      : 'NOT encrypted: the upload wants an encrypted tarball (--new-key-file)',
    ...(isChecked ? [] : ['NOT checked: "longhaul submission check" says what is wrong with it']),
    `unpack: ${unpack}`,
    `then:   sha256sum -c ${contents}`,
  ];
  return `${lines.join('\n')}\n`;
}
