import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '../../shared/base/files/package-files.ts';

/** A program that was built. */
export interface BuiltProgram {
  readonly path: string;
}

/** Sources and scripts, which are not compiled by tsc and stay where they are. */
const SOURCES: string = join(distFolder(), '..', 'test', 'bench', 'cpp');

/**
 * Builds the C++ gRPC peer, once; later calls find it.
 * @returns Why not, where its tools or libraries are missing or it does not compile.
 */
export function buildPeer(): BuiltProgram | string {
  const folder = join(distFolder(), 'bench-peer');
  return build('build-peer.sh', [folder], join(folder, 'peer'));
}

/**
 * Builds the C++ gRPC pair for an open load.
 * @returns As {@link buildPeer}.
 */
export function buildOpenLoop(): BuiltProgram | string {
  const path = join(distFolder(), 'bench-open-loop');
  return build('build-open-loop.sh', [path], path);
}

/**
 * Builds the loop that sleeps until each due time, which needs a compiler alone.
 * @returns As {@link buildPeer}.
 */
export function buildSleepLoop(): BuiltProgram | string {
  const path = join(distFolder(), 'bench-sleep-loop');
  return build('build-sleep-loop.sh', [path], path);
}

function build(script: string, args: readonly string[], path: string): BuiltProgram | string {
  mkdirSync(distFolder(), { recursive: true });
  try {
    execFileSync('sh', [join(SOURCES, script), ...args], { stdio: ['ignore', 'inherit', 'pipe'] });
    return { path };
  } catch (error) {
    const { stderr } = error as { stderr?: Buffer };
    return stderr?.toString().trim() || String(error);
  }
}
