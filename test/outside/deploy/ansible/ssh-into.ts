import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '../../../scenes/host/repository.ts';

const SSHD = '/usr/sbin/sshd';

/** Why Ansible cannot be tried here, or undefined where it can. */
export function whyNoAnsible(): string | undefined {
  if (!existsSync(SSHD)) return 'needs sshd (package openssh-server)';
  const missing = ['ansible-playbook', 'ssh', 'ssh-keygen', 'openssl', 'npm'].find(
    (name) => programPath(name) === undefined,
  );
  return missing === undefined ? undefined : `needs the command ${missing}`;
}

/**
 * Makes keys and a configuration for `ssh -F`. Each connection starts an sshd of its own inside its
 * host, so that a host needs no address for it.
 * @param hosts By name: command and arguments that run something inside.
 * @param folder For keys and configuration. @param inside The same folder as the hosts see it.
 * @returns Path of the configuration.
 */
export function sshInto(
  hosts: Readonly<Record<string, readonly string[]>>,
  folder: string,
  inside = folder,
): string {
  // sshd wants it, and makes it nowhere but in its own service.
  mkdirSync('/run/sshd', { recursive: true });
  const [user, host, known, sshd, config] = ['user', 'host', 'known_hosts', 'sshd', 'ssh_config'];
  for (const key of [user, host])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)]);
  writeFileSync(
    join(folder, known),
    `the-host ${readFileSync(join(folder, `${host}.pub`), 'utf8')}`,
  );
  // In a shell below another one bash reads no profile of this machine's user, which may take
  // seconds for each command.
  writeFileSync(
    join(folder, sshd),
    `HostKey ${join(inside, host)}
AuthorizedKeysFile ${join(inside, `${user}.pub`)}
PermitRootLogin yes
PasswordAuthentication no
StrictModes no
SetEnv SHLVL=2
UsePAM no
Subsystem sftp internal-sftp
`,
  );
  const sections = Object.entries(hosts).map(
    ([name, enter]) => `Host ${name}
  User root
  HostKeyAlias the-host
  UserKnownHostsFile ${join(folder, known)}
  IdentityFile ${join(folder, user)}
  IdentitiesOnly yes
  ProxyCommand ${[...enter, SSHD, '-i', '-f', join(inside, sshd)].join(' ')}
`,
  );
  writeFileSync(join(folder, config), sections.join(''));
  return join(folder, config);
}
