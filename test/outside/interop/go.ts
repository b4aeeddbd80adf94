import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';

/** Debian's golang-google-grpc-dev lies here; nothing is downloaded. */
const GO_ENV = { ...process.env, GOPATH: '/usr/share/gocode', GO111MODULE: 'off', GOFLAGS: '' };

/** Why a program on grpc-go cannot be built here; undefined: it can. */
export const GO_OBSTACLE: string | undefined =
  spawnSync('go', ['list', 'google.golang.org/grpc'], { env: GO_ENV }).status === 0
    ? undefined
    : 'go or its package google.golang.org/grpc is missing (Debian: golang-go golang-google-grpc-dev)';

/** Builds a program of one file. @returns The program. */
export function goBuild(file: string, program: string): string {
  const { status, stderr } = spawnSync('go', ['build', '-o', program, file], {
    env: { ...GO_ENV, GOCACHE: join(dirname(program), 'cache') },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`go build: ${stderr}`);
  return program;
}
