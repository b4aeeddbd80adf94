import { beforeEach, describe, expect, it, vi } from 'vitest';
import { resolveNodeAddresses } from '../../../../qdl/index.ts';

// Goal: a name becomes one address per machine, in a stable order; what cannot be is told. Method:
// a name service of the test's own, since that of the machine would answer differently everywhere.

const lookup = vi.hoisted(() => vi.fn());
vi.mock('node:dns/promises', () => ({ lookup }));

beforeEach(() => {
  lookup.mockReset();
});

describe('resolveNodeAddresses', () => {
  it('leaves addresses as they are and asks nobody', async () => {
    expect(await resolveNodeAddresses(['b:2', 'a:1'])).toEqual(['b:2', 'a:1']);
    expect(lookup).not.toHaveBeenCalled();
  });

  it('puts all addresses of a name in its place, in ascending order', async () => {
    lookup.mockResolvedValue([
      { address: '10.0.0.3', family: 4 },
      { address: '10.0.0.2', family: 4 },
    ]);
    const nodes = await resolveNodeAddresses(['x:1', 'dns:///sut.local:50051']);
    expect(nodes).toEqual(['x:1', '10.0.0.2:50051', '10.0.0.3:50051']);
    expect(lookup).toHaveBeenCalledWith('sut.local', { all: true });
  });

  it('takes IPv6 addresses only where there are no others: both lead to the same machines', async () => {
    const both = [
      { address: '::2', family: 6 },
      { address: '10.0.0.2', family: 4 },
    ];
    lookup.mockResolvedValueOnce(both).mockResolvedValueOnce(both.slice(0, 1));
    expect(await resolveNodeAddresses(['dns:///a:1'])).toEqual(['10.0.0.2:1']);
    expect(await resolveNodeAddresses(['dns:///a:1'])).toEqual(['[::2]:1']);
  });

  it('names a name that nobody knows', async () => {
    lookup.mockRejectedValue(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    await expect(resolveNodeAddresses(['dns:///nobody:1'])).rejects.toMatchObject({
      code: 'ERR_SUT_UNREACHABLE',
      message: 'dns:///nobody:1: the name nobody cannot be resolved (there is no such host)',
    });
  });

  it('refuses an address that is there twice', async () => {
    lookup.mockResolvedValue([{ address: '10.0.0.2', family: 4 }]);
    await expect(resolveNodeAddresses(['10.0.0.2:1', 'dns:///a:1'])).rejects.toThrow(
      '--sut leads to the address 10.0.0.2:1 twice',
    );
  });
});
