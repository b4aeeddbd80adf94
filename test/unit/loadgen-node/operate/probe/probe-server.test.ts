import { expect, it, onTestFinished } from 'vitest';
import {
  PROBE_SETTINGS,
  probeServer,
} from '../../../../../loadgen-node/operate/probe/probe-server.ts';
import { addProtocol, protocolNamed } from '../../../../../qdl/protocols/index.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';

// Goal: an address with a scheme is asked in its own protocol, or not at all.
// Method: a protocol without `probe` in the list; addresses at which nothing listens.

it('refuses an address of a protocol whose servers cannot be probed', async () => {
  const { probe: _, ...others } = protocolNamed('oip');
  const lines = { ...others, name: 'lines', scheme: 'lines', title: 'lines of JSON' };
  onTestFinished(addProtocol(lines));
  const { values } = resolveSettings(PROBE_SETTINGS, {
    ...{ section: undefined, file: undefined, flags: {} },
  });
  await expect(probeServer('lines://127.0.0.1:1', values)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message:
      '"lines://127.0.0.1:1" speaks lines of JSON, and longhaul cannot list its models; ' +
      '"longhaul run --sut lines://127.0.0.1:1" measures it',
  });
});
