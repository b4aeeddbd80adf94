import { lookup } from 'node:dns/promises';
import { MlperfError } from '../base/errors/mlperf-error.ts';
import { describeSystemError } from '../base/errors/to-mlperf-error.ts';

const DNS_PREFIX = 'dns:///';

/**
 * The addresses that a text means: itself, or for `dns:///name:port` one per machine behind the name, in ascending order. Where a name
 * has IPv4 addresses, only those count, since its IPv6 addresses lead to the same machines.
 * @throws MlperfError `ERR_SUT_UNREACHABLE` for a name that nobody knows
 */
export async function addressesBehind(address: string): Promise<readonly string[]> {
  if (!address.startsWith(DNS_PREFIX)) return [address];
  const target = address.slice(DNS_PREFIX.length);
  const colon = target.lastIndexOf(':');
  const name = target.slice(0, colon);
  const port = target.slice(colon + 1);
  let found: readonly { readonly address: string; readonly family: number }[];
  try {
    found = await lookup(name, { all: true });
  } catch (error) {
    const why = describeSystemError(error);
    throw new MlperfError(
      'ERR_SUT_UNREACHABLE',
      `${address}: the name ${name} cannot be resolved (${why})`,
      { cause: error },
    );
  }
  const hasIpv4 = found.some(({ family }) => family === 4);
  return found
    .filter(({ family }) => !hasIpv4 || family === 4)
    .map(({ address: ip, family }) => (family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`))
    .sort();
}
