import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultDispatchSettings } from '../../../../qdl/dispatch-settings.ts';
import { connectionCredentials } from '../../../../qdl/node/grpc-options.ts';

/** Codes of the warnings that come in the next turns of the event loop. */
async function warnings(emit: () => void): Promise<(string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  const listener = (warning: Error & { code?: string }): void => {
    codes.push(warning.code);
  };
  process.on('warning', listener);
  onTestFinished(() => {
    process.off('warning', listener);
  });
  emit();
  await new Promise((resolve) => setImmediate(resolve));
  return codes;
}

describe('connectionCredentials with TLS', () => {
  it('keeps the warning about IP addresses off stderr, and no other', async () => {
    const settings = defaultDispatchSettings(['127.0.0.1:1']);
    const { noDeprecation } = process;
    connectionCredentials({ ...settings, security: { ...settings.security, tls: true } });
    expect(process.noDeprecation).toBe(noDeprecation);
    const codes = await warnings(() => {
      process.emitWarning('an IP address', 'DeprecationWarning', 'DEP0123');
      process.emitWarning('something else', 'DeprecationWarning', 'DEP9999');
      process.emitWarning('more', { type: 'DeprecationWarning', code: 'DEP9998' });
    });
    expect(codes).toEqual(['DEP9999', 'DEP9998']);
  });
});
