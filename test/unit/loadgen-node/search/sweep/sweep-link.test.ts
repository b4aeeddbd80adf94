import { afterEach, expect, it, vi } from 'vitest';
import { chooseLinkMaker } from '../../../../../loadgen-node/search/sweep/sweep-link.ts';

// Goal: before anything starts a user reads everything that his machine lacks for links, and what a flag is for.
const VALUES = { delay: '0', rate: 'unlimited', loss: '0', lossSeed: 0, device: undefined };
const AUTO = { ...VALUES, with: 'auto' } as const;

afterEach(() => {
  vi.unstubAllEnvs();
});

it('names all that a machine lacks', async () => {
  vi.stubEnv('PATH', '/nowhere');
  const error = await chooseLinkMaker(AUTO, []).catch((one: Error) => one);
  expect(error).toMatchObject({ code: 'ERR_NOT_INSTALLED' });
  for (const command of ['ip', 'unshare', 'nsenter']) {
    expect(String(error)).toMatch(
      process.platform === 'linux' ? `the command ${command} (package ` : 'Linux',
    );
  }
});

it.each([
  [{ ...AUTO, device: 'eth1' }, [], '--device is for --sut'],
  [AUTO, ['10.0.0.2:1'], '--sut needs --device'],
  [{ ...VALUES, with: 'tap' } as const, ['10.0.0.2:1'], 'leave --sut out'],
])('refuses %j with nodes %j', async (values, sut, expected) => {
  await expect(chooseLinkMaker(values, sut)).rejects.toThrow(expected);
});
