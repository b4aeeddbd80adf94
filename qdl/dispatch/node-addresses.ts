import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { addressesBehind } from '../../shared/wire/name-addresses.ts';

/**
 * The addresses of the SUT nodes, `dns:///name:port` replaced by one address per machine behind the
 * name. Asked once, before the run: its nodes are fixed.
 * @throws MlperfError `ERR_SUT_UNREACHABLE` for a name that nobody knows, `ERR_CONFIG_INVALID` for an
 *   address that is there twice.
 */
export async function resolveNodeAddresses(named: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(named.map(addressesBehind));
  const addresses = lists.flat();
  const twice = addresses.find((address, i) => addresses.indexOf(address) !== i);
  if (twice !== undefined) {
    throw new MlperfError('ERR_CONFIG_INVALID', `--sut leads to the address ${twice} twice`);
  }
  return addresses;
}
