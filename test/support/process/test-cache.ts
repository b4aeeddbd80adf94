import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Cache folder of all integration tests. It outlives the test run on purpose: images of digits
 * are drawn once per machine, and the cache checks them on every opening. Several test processes may use it
 * at once.
 */
export function testCacheFolder(): string {
  return join(tmpdir(), 'longhaul-test-cache');
}
