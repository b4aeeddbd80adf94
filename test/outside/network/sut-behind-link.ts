import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '../../../shared/base/files/package-files.ts';

/** Why no network namespace can be made here, or undefined when one can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!hasCommand('ip')) return 'needs the command ip (package iproute2)';
  if (!existsSync('/dev/net/tun') && !hasCommand('tc')) return 'needs /dev/net/tun or tc';
  return undefined;
}

function hasCommand(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

/** The hook of `longhaul sweep` that the repository has. */
export const LINK_SCRIPT: string = join(distFolder(), '..', 'deploy', 'two-hosts', 'link.sh');

/** Conditions of a link, as the hook takes them. */
export interface HookConditions {
  readonly delayMs?: number;
  readonly rateMbit?: number;
  readonly lossPercent?: number;
}

/**
 * A network namespace for a SUT node behind a link, by the script of the repository: another one
 * for each process.
 */
export class SutNamespace {
  readonly name = `lh${process.pid}`;
  readonly #net = `198.18.${process.pid % 256}`;
  /** Address of the namespace's end. */
  readonly sutAddress = `${this.#net}.2`;
  /** Command and arguments before those of a program that runs in the namespace. */
  readonly inside: readonly string[] = ['ip', 'netns', 'exec', this.name];
  /** For the script, and for a sweep with it. */
  readonly environment: Readonly<Record<string, string>>;

  /** @param by Maker of the link; undefined: the kernel where it can. */
  constructor(by?: 'netem' | 'tap') {
    this.environment = {
      ...{ LINK_SPACE: this.name, LINK_NET: this.#net },
      ...(by !== undefined && { LINK_BY: by }),
    };
    this.#call(['make']);
  }

  /** Sets the link, as a sweep does it. */
  set({ delayMs = 0, rateMbit, lossPercent = 0 }: HookConditions): void {
    this.#call([], {
      LONGHAUL_LINK: 'set',
      LONGHAUL_LINK_DELAY_US: String(delayMs * 1e3),
      LONGHAUL_LINK_RATE_BITS: rateMbit === undefined ? '' : String(rateMbit * 1e6),
      LONGHAUL_LINK_LOSS_PERCENT: String(lossPercent),
    });
  }

  /** @returns What the script says of the link as it was */
  clear(): string {
    return this.#call([], { LONGHAUL_LINK: 'clear' });
  }

  remove(): void {
    this.#call(['remove']);
  }

  #call(words: readonly string[], conditions: Readonly<Record<string, string>> = {}): string {
    const env = { ...process.env, ...this.environment, ...conditions };
    return execFileSync(LINK_SCRIPT, words, { env, encoding: 'utf8' });
  }
}
