import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Cache folder of all integration tests. It outlives the test run on purpose: the example model is
 * fitted once per machine, and the cache checks it on every opening. Several test processes may use it
 * at once.
 */
export function testCacheFolder(): string {
  return join(tmpdir(), 'longhaul-test-cache');
}
