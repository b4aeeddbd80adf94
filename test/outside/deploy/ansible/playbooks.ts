import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { repositoryFile } from '../../../scenes/host/repository.ts';

/** How a playbook ended. */
export interface Played {
  readonly code: number | null;
  readonly output: string;
  /** Of each host in the recap: how many tasks changed something. */
  readonly changed: Readonly<Record<string, number>>;
}

/** Playbooks of deploy/ansible with an inventory of their own. */
export class Playbooks {
  /** Of the inventory, of results and of certificates. */
  readonly folder: string;

  /**
   * @param ssh Of ssh's configuration. @param variables For all hosts, beside those that ssh needs.
   */
  constructor(folder: string, ssh: string, groups: object, variables: object) {
    this.folder = folder;
    const all = {
      vars: {
        ansible_user: 'root',
        ansible_ssh_common_args: `-F ${ssh}`,
        ansible_python_interpreter: '/usr/bin/python3',
        ...variables,
      },
    };
    writeFileSync(join(folder, 'inventory.yaml'), stringify({ ...groups, all }));
  }

  /** Runs a playbook until its end. */
  play(name: string, ...args: string[]): Promise<Played> {
    return this.start(name, ...args).ended;
  }

  start(name: string, ...args: string[]): { child: ChildProcess; ended: Promise<Played> } {
    // Another inventory takes the place of this one.
    const own = args.includes('--inventory') ? [] : ['--inventory', this.#path('inventory.yaml')];
    const command = [...own, repositoryFile(`deploy/ansible/${name}`), ...args];
    const env = {
      ...process.env,
      ANSIBLE_NOCOLOR: '1',
      ANSIBLE_SSH_CONTROL_PATH_DIR: this.#path('cp'),
    };
    const child = spawn('ansible-playbook', command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    const ended = new Promise<Played>((resolve) => {
      child.once('close', (code) => {
        const recap = [...output.matchAll(/^(\S+) +: ok=\d+ +changed=(\d+)/gm)];
        const changed = Object.fromEntries(recap.map(([, host = '', n]) => [host, Number(n)]));
        resolve({ code, output, changed });
      });
    });
    return { child, ended };
  }

  #path(name: string): string {
    return join(this.folder, name);
  }
}
