#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

// What "docker run --read-only --cap-drop ALL --security-opt no-new-privileges" does, as a
// configuration of an OCI runtime (crun, runc): the image's own user, environment, working folder
// and entry point, nothing else writable.

const HELP = `Usage: buildah inspect --type image IMAGE | node oci-config.mjs --rootfs FOLDER [flags] -- ARGUMENTS

Writes config.json of an OCI bundle to stdout. ARGUMENTS follow the image's entry point.

  --netns PATH               network namespace to enter; else the host's
  --mount FROM:TO[:ro]       a folder of this machine; may be given again
  --tmpfs TO                 an empty folder in memory; may be given again
  --cpus LIST                CPUs that it may use, for example 2-3`;

/** Ends with one line on stderr. */
function fail(text) {
  process.stderr.write(`oci-config: ${text}\n`);
  process.exit(2);
}

function readArguments() {
  const options = {
    help: { type: 'boolean', short: 'h' },
    rootfs: { type: 'string' },
    netns: { type: 'string' },
    mount: { type: 'string', multiple: true, default: [] },
    tmpfs: { type: 'string', multiple: true, default: [] },
    cpus: { type: 'string' },
  };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail(`${error.message.split('\n')[0]} (--help says what there is)`);
  }
}

/** The part of `buildah inspect` that Docker calls the configuration of an image. */
function imageConfig(text) {
  try {
    return JSON.parse(text).Docker.config;
  } catch {
    return fail('stdin is not what "buildah inspect --type image" says');
  }
}

/** `FROM:TO[:ro]` as a mount. */
function bindMount(value) {
  const [source, destination, mode, ...more] = value.split(':');
  if (!source?.startsWith('/') || !destination?.startsWith('/') || more.length > 0) {
    return fail(`--mount ${value}: FROM:TO or FROM:TO:ro with absolute paths is needed`);
  }
  if (mode !== undefined && mode !== 'ro') return fail(`--mount ${value}: "${mode}" is not "ro"`);
  const options = ['rbind', 'nosuid', 'nodev', mode ?? 'rw'];
  return { destination, type: 'bind', source, options };
}

function special(destination, type, ...options) {
  return { destination, type, source: type, options: ['nosuid', 'noexec', ...options] };
}

function mounts({ mount, tmpfs }) {
  return [
    special('/proc', 'proc', 'nodev'),
    { ...special('/dev', 'tmpfs', 'strictatime', 'mode=755', 'size=65536k') },
    special('/dev/pts', 'devpts', 'newinstance', 'ptmxmode=0666', 'mode=0620'),
    special('/dev/shm', 'tmpfs', 'nodev', 'mode=1777', 'size=65536k'),
    special('/dev/mqueue', 'mqueue', 'nodev'),
    special('/sys', 'sysfs', 'nodev', 'ro'),
    ...tmpfs.map((destination) => special(destination, 'tmpfs', 'nodev', 'mode=1777')),
    ...mount.map(bindMount),
  ];
}

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
if (values.rootfs === undefined) fail('--rootfs is needed: the folder that "buildah mount" prints');
const image = imageConfig(readFileSync(0, 'utf8'));
const [uid, gid] = (image.User ?? '').split(':').map(Number);
if (!(uid > 0 && gid > 0))
  fail(`the image's user is "${image.User}": two numbers above 0 are needed`);

const namespaces = ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type }));
if (values.netns !== undefined) namespaces.push({ type: 'network', path: values.netns });
const config = {
  ociVersion: '1.0.0',
  process: {
    terminal: false,
    user: { uid, gid },
    args: [
      ...(image.Entrypoint ?? []),
      ...(positionals.length > 0 ? positionals : (image.Cmd ?? [])),
    ],
    env: image.Env ?? [],
    cwd: image.WorkingDir || '/',
    capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    noNewPrivileges: true,
  },
  root: { path: values.rootfs, readonly: true },
  hostname: 'longhaul',
  mounts: mounts(values),
  linux: {
    namespaces,
    ...(values.cpus === undefined ? {} : { resources: { cpu: { cpus: values.cpus } } }),
    maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/sysrq-trigger', '/sys/firmware'],
    readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys'],
  },
};
process.stdout.write(`${JSON.stringify(config, null, 1)}\n`);
