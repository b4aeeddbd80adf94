import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// Goal: a probe costs little beside a measurement, and goes where only the SUT half is installed.
// Method: what the verb's file imports, and what that imports, read from the sources.

/** Every module that loading one makes Node load, as paths below the root and names of packages. */
function closureOf(file: URL, found = new Set<string>()): Set<string> {
  const text = readFileSync(file, 'utf8');
  for (const [, isType, name = ''] of text.matchAll(
    /^(?:import|export) (type )?[^;]*?from '([^']+)';/gm,
  )) {
    if (isType !== undefined) continue;
    const isOwn = name.startsWith('.');
    const at = isOwn ? new URL(name, file) : undefined;
    const key = at === undefined ? name : fileURLToPath(at).slice(ROOT.length);
    if (found.has(key)) continue;
    found.add(key);
    if (at !== undefined) closureOf(at, found);
  }
  return found;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

describe('longhaul probe health', () => {
  const closure = [
    ...closureOf(new URL('../../../../loadgen-node/cli/health.ts', import.meta.url)),
  ];

  it('loads no gRPC, no QDL and nothing of LoadGen but its own files', () => {
    expect(closure.length).toBeGreaterThan(10);
    expect(closure.filter((name) => /^(qdl|sut-node|proto)\//.test(name))).toEqual([]);
    expect(closure.filter((name) => name.startsWith('loadgen-node/')).sort()).toEqual([
      'loadgen-node/cli/verb.ts',
      'loadgen-node/operate/health/ask-health.ts',
      'loadgen-node/operate/health/check-health.ts',
      'loadgen-node/run/plan/connection-options.ts',
    ]);
    const packages = closure.filter((name) => !name.includes('.ts') && !name.startsWith('node:'));
    expect(packages.sort()).toEqual(['commander', 'yaml', 'zod']);
  });
});
