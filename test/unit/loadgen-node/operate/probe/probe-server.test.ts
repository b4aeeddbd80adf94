import { expect, it, onTestFinished } from 'vitest';
import {
  PROBE_SETTINGS,
  probeServer,
} from '../../../../../loadgen-node/operate/probe/probe-server.ts';
import { addProtocol } from '../../../../../qdl/protocols/index.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import { LINES_PROTOCOL } from '../../../../scenes/toy-protocol/lines-protocol.ts';

// Goal: an address with a scheme is asked in its own protocol, or not at all.
// Method: a protocol without `probe` in the list; addresses at which nothing listens.

it('refuses an address of a protocol whose servers cannot be probed', async () => {
  onTestFinished(addProtocol(LINES_PROTOCOL));
  const { values } = resolveSettings(PROBE_SETTINGS, {
    ...{ section: undefined, file: undefined, flags: {} },
  });
  await expect(probeServer('lines://127.0.0.1:1', values)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message:
      '"lines://127.0.0.1:1" speaks lines of JSON, in which longhaul asks no server what its models are; ' +
      '"longhaul run --sut lines://127.0.0.1:1" measures it',
  });
});
