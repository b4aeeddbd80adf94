import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  buildNeeds,
  dockerfileFindings,
  instructionsOf,
  isSent,
} from '../../support/deploy/dockerfile-rules.ts';

// Goal: images are built from what is in the tree, run without rights, stop when they are told to, and say what they are.
// Method: the Dockerfiles linted and held against rules of our own; every rule finds a fault that is planted for it.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const read = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');
const ignore = read('.dockerignore');
const context = { root, ignore };
const sut = read('deploy', 'docker', 'Dockerfile.sut');
const loadgen = read('deploy', 'docker', 'Dockerfile.loadgen');

/** Replaces what must be there. */
function planted(text: string, from: string | RegExp, to: string): string {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  return changed;
}

describe('the Dockerfiles', () => {
  it('have no fault', () => {
    expect(dockerfileFindings(sut, 'sut', context)).toEqual([]);
    expect(dockerfileFindings(loadgen, 'loadgen', context)).toEqual([]);
  });

  const faults: readonly (readonly [string, string | RegExp, string, RegExp])[] = [
    ['a base image that moves', 'node:20.20.2-bookworm', 'node:latest', /no full version/],
    ['a base image without a tag', 'debian:12.13-slim', 'debian', /no full version/],
    [
      'a base image that nobody can pin',
      /FROM \$\{BASE_IMAGE\}/,
      'FROM debian:12.13',
      /not a build argument/,
    ],
    ['root at the end', 'USER 65532:65532', 'USER root', /last USER/],
    ['no user at the end', /USER .*\n/, '', /last USER/],
    [
      'a user by name, which Kubernetes cannot tell from root',
      'USER 65532:65532',
      'USER longhaul',
      /last USER/,
    ],
    ['ADD of a URL', 'COPY . .', 'ADD https://127.0.0.1/x.tgz /x', /ADD may fetch/],
    ['a source that is not there', 'COPY . .', 'COPY nowhere .', /nowhere is not in the tree/],
    ['a source that is not sent', 'COPY . .', 'COPY test .', /dockerignore shuts test out/],
    ['a stage that is not there', '--from=modules', '--from=moduls', /no stage moduls/],
    ['a shell as process 1', /ENTRYPOINT .*/, 'ENTRYPOINT longhaul', /exec form/],
    ['no init', '["/usr/local/bin/tini", "--", ', '[', /no init/],
    ['telemetry', ' ORT_DISABLE_TELEMETRY=1', '', /ORT_DISABLE_TELEMETRY/],
    ['no health check', /HEALTHCHECK .*\n.*\n/, '', /HEALTHCHECK/],
    [
      'a health check by a shell',
      /CMD \["\/usr\/local\/bin\/longhaul-health.*/,
      'CMD longhaul',
      /HEALTHCHECK/,
    ],
    ['another signal', 'STOPSIGNAL SIGTERM', 'STOPSIGNAL SIGINT', /STOPSIGNAL/],
    ['a port that is not told', ' 50052 9464', ' 9464', /50052/],
    [
      'a label that is missing',
      /org.opencontainers.image.revision=.*\n/,
      'x="y" \\\n',
      /label revision/,
    ],
    ['packages beyond what is named', ' --no-install-recommends', '', /no-install-recommends/],
    ['lists of apt in a layer', /\\\n +&& rm -rf \/var\/lib\/apt\/lists\/\*/, '', /lists stay/],
    ['versions beside the lock file', 'npm ci --ignore-scripts', 'npm install', /npm ci/],
    ['a word that is no instruction', 'WORKDIR /src', 'WORKDIRR /src', /dockerfile-utils/],
    ['an instruction that is deprecated', 'WORKDIR /src', 'MAINTAINER me', /dockerfile-utils/],
  ];
  it.each(faults)('with %s are found', (_what, from, to, finding) => {
    const found = dockerfileFindings(planted(sut, from, to), 'sut', context);
    expect(found.filter((one) => finding.test(one))).not.toEqual([]);
  });

  it('with a health check of LoadGen, which ends by itself, are found', () => {
    const changed = planted(loadgen, 'HEALTHCHECK NONE', 'HEALTHCHECK CMD ["true"]');
    expect(dockerfileFindings(changed, 'loadgen', context)).toEqual([
      'end: HEALTHCHECK is not NONE',
    ]);
  });

  it('take every build argument that build.sh gives', () => {
    const given = [...read('deploy', 'docker', 'build.sh').matchAll(/--build-arg "?(\w+)=/g)];
    const names = new Set(given.map(([, name]) => name ?? ''));
    // Docker's own, which no Dockerfile names.
    names.delete('SOURCE_DATE_EPOCH');
    const taken = instructionsOf(sut).filter(({ name }) => name === 'ARG');
    const missing = [...names].filter(
      (name) => !taken.some(({ text }) => text.split('=')[0] === name),
    );
    expect({ names: names.size > 4, missing }).toEqual({ names: true, missing: [] });
  });
});

describe('.dockerignore', () => {
  it('sends everything that a build needs', () => {
    const needs = buildNeeds(root);
    expect(needs.length).toBeGreaterThan(12);
    expect(needs.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(needs.filter((path) => !isSent(path, ignore))).toEqual([]);
    const without = planted(ignore, '!proto\n', '');
    expect(needs.filter((path) => !isSent(path, without))).toContain('proto');
  });

  it('sends neither keys, results and caches of a working folder nor what is built anew', () => {
    const kept = [
      '.git/config',
      '.env',
      'tls/authority/ca.key',
      'token',
      'results/first/x',
      'dist/x.js',
    ];
    const modules = ['node_modules/x/package.json', 'qdl/node_modules/x/index.js', 'release/x.tgz'];
    const others = ['test/unit/x.test.ts', 'deploy/certificates/x.key', 'deploy/docker/README.md'];
    const sent = [...kept, ...modules, ...others].filter((path) => isSent(path, ignore));
    expect(sent).toEqual([]);
  });
});
