import { z } from 'zod';
import {
  choice,
  nodeName,
  optional,
  positiveDuration,
  type Setting,
  type SettingTable,
  type SettingValues,
  text,
} from '../../../../shared/config/setting.ts';
import { splitAddress } from '../../../../shared/domain/node-address.ts';

/** A setting of an inventory that no flag has. */
function fileOnly<T>(
  schema: z.ZodType<T>,
  help: string,
  options: { readonly fallback?: unknown; readonly required?: boolean } = {},
): Setting<T> {
  const { fallback, required } = options;
  const fromFlag = (value: string): unknown => value;
  return { help, placeholder: 'value', schema, fromFlag, fallback, isRequired: required === true };
}

const line = z
  .string('must be a text')
  .trim()
  .min(1, 'must not be empty')
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

const DESTINATION =
  'must be a destination of ssh, for example user@10.0.0.2 or a Host of ~/.ssh/config';
const PACKAGE = 'must be a tarball, or {loadgen: tarball, sut: tarball}';
const TLS = 'must be made, off, or {folder: ...} with certificates by make-certificates.sh';
const PIN = 'must be CPUs as taskset has them, for example 2-5 or 0,2';
const VARIABLES = 'must be a map of variables and texts, for example {OMP_NUM_THREADS: "4"}';
const ADDRESS = 'must be host:port as the LoadGen node reaches it, for example 10.0.0.2:50051';

const address = z.string(ADDRESS).refine((value) => (splitAddress(value)?.port ?? 0) > 0, ADDRESS);

const anyMap = z.record(z.string(), z.unknown(), 'must be a map of settings');

/** What holds for every host, and what one of them may say otherwise. */
export const HOST_KEYS: {
  readonly folder: Setting<string | undefined>;
  readonly package: Setting<string | { loadgen: string; sut: string } | undefined>;
  readonly install: Setting<'npm' | 'copy' | undefined>;
  readonly command: Setting<string | undefined>;
  readonly nodePath: Setting<string | undefined>;
  readonly nodeFlags: Setting<string[] | undefined>;
  readonly environment: Setting<Record<string, string> | undefined>;
  readonly pin: Setting<string | undefined>;
} = {
  folder: optional(
    text('folder', 'folder on the host in which everything is kept (default: ~/longhaul-remote)'),
  ),
  package: optional(
    fileOnly(
      z.union([line, z.strictObject({ loadgen: line, sut: line })], PACKAGE),
      'tarball on this machine, or one for each half; without it this installation is copied',
    ),
  ),
  install: optional(
    choice(
      ['npm', 'copy'],
      'npm: npm install on the host, from its registry; copy: with the dependencies of this installation, no internet needed (default: npm with a package, else copy)',
    ),
  ),
  command: optional(
    text('program', 'longhaul that is installed on the host already, instead of a package'),
  ),
  nodePath: optional(text('program', 'Node.js on the host (default: node)')),
  nodeFlags: optional(
    fileOnly(z.array(line, 'must be a list of flags'), 'flags of Node.js, a list'),
  ),
  environment: optional(
    fileOnly(
      z.record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, VARIABLES),
        z.string(VARIABLES),
        VARIABLES,
      ),
      'environment variables of the program',
    ),
  ),
  pin: optional(
    fileOnly(
      z
        .union([z.int().min(0), z.string().regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/, PIN)], PIN)
        .transform(String),
      'CPUs that the program may use, by taskset',
    ),
  ),
};

/** Where a host is. */
const PLACE_KEYS: {
  readonly ssh: Setting<string | undefined>;
  readonly local: Setting<boolean | undefined>;
} = {
  ssh: optional(
    fileOnly(
      z.string(DESTINATION).regex(/^[^-\s\p{Cc}][^\s\p{Cc}]*$/u, DESTINATION),
      'destination of ssh: user@host, ssh://user@host:port, or a Host of ~/.ssh/config',
    ),
  ),
  local: optional(fileOnly(z.boolean('must be true or false'), 'true: this machine')),
};

/** The LoadGen node. */
export const LOADGEN_KEYS: typeof PLACE_KEYS & typeof HOST_KEYS = { ...PLACE_KEYS, ...HOST_KEYS };

const NODE_NAME =
  'must be a name of letters, digits, ".", "_" and "-", other than loadgen and authority: it becomes a folder';

/** A SUT node. */
export const NODE_KEYS: typeof LOADGEN_KEYS & {
  readonly node: Setting<string>;
  readonly address: Setting<string>;
  readonly listen: Setting<string | undefined>;
  readonly settings: Setting<Record<string, unknown> | undefined>;
} = {
  ...PLACE_KEYS,
  node: {
    ...nodeName('name of the SUT node, of which no other has it', { required: true }),
    schema: z
      .string(NODE_NAME)
      .regex(/^(?!(loadgen|authority)$)[A-Za-z0-9][A-Za-z0-9._-]*$/, NODE_NAME),
  },
  address: fileOnly(address, 'host:port at which the LoadGen node reaches it', { required: true }),
  listen: optional(
    fileOnly(
      address,
      'host:port on which it listens (default: its address where that is an IP address, else all addresses)',
    ),
  ),
  settings: optional(fileOnly(anyMap, 'settings of this node, over sutSettings')),
  ...HOST_KEYS,
};

/** The inventory itself. */
export const INVENTORY_KEYS: typeof HOST_KEYS & {
  readonly loadgen: Setting<Record<string, unknown>>;
  readonly sut: Setting<Record<string, unknown>[]>;
  readonly sutSettings: Setting<Record<string, unknown> | undefined>;
  readonly run: Setting<Record<string, unknown> | undefined>;
  readonly tls: Setting<string | { folder: string }>;
  readonly sshConfig: Setting<string | undefined>;
  readonly readyTimeout: Setting<number>;
  readonly stopTimeout: Setting<number>;
  readonly installTimeout: Setting<number>;
} = {
  ...HOST_KEYS,
  loadgen: fileOnly(anyMap, 'the LoadGen node', { required: true }),
  sut: fileOnly(
    z.array(anyMap, 'must be a list of SUT nodes').min(1, 'must name at least one SUT node'),
    'the SUT nodes, a list',
    { required: true },
  ),
  sutSettings: optional(fileOnly(anyMap, 'settings of all SUT nodes: the keys of "longhaul sut"')),
  run: optional(fileOnly(anyMap, 'settings of the run: the keys of "longhaul run"')),
  tls: fileOnly(
    z.union([z.enum(['made', 'off']), z.strictObject({ folder: line })], TLS),
    'made: certificates for mutual TLS and a token are made and brought to the hosts; off: neither; {folder: ...}: your own',
    { fallback: 'off' },
  ),
  sshConfig: optional(text('file', "configuration file for ssh (default: the user's own)")),
  readyTimeout: positiveDuration('longest wait for a SUT node to be ready', { fallback: '10m' }),
  // Longer than a node drains by default (--drain-timeout of longhaul sut).
  stopTimeout: positiveDuration('longest wait for a process to end by itself; then it is killed', {
    fallback: '45s',
  }),
  installTimeout: positiveDuration('longest time for an installation on a host', {
    fallback: '10m',
  }),
};

/** Effective values of {@link LOADGEN_KEYS}, of an entry. */
export type HostValues = SettingValues<typeof LOADGEN_KEYS>;

/** What the inventory says in a way of its own, and why it stands in no settings. */
export const OWN_SUT_KEYS: Readonly<Record<string, string>> = {
  listen: 'the entry of the node has "address" and "listen"',
  node: 'the entry of the node has it as "node"',
  tlsCert: 'the inventory has "tls"',
  tlsKey: 'the inventory has "tls"',
  tlsClientCa: 'the inventory has "tls"',
  tokenFile: 'the inventory has "tls"',
  check: 'a node of an inventory serves',
  checkFormat: 'a node of an inventory serves',
};

/** As {@link OWN_SUT_KEYS}, of the run. */
export const OWN_RUN_KEYS: Readonly<Record<string, string>> = {
  sut: 'the nodes are under "sut"',
  tls: 'the inventory has "tls" above',
  tlsCa: 'the inventory has "tls" above',
  tlsCert: 'the inventory has "tls" above',
  tlsKey: 'the inventory has "tls" above',
  tokenFile: 'the inventory has "tls" above',
  output: 'longhaul remote run has --output',
};

/** A table without the keys that the inventory has itself. */
export function without(table: SettingTable, keys: Readonly<Record<string, string>>): SettingTable {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !(key in keys)));
}
