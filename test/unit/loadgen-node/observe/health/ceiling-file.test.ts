import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ceilingBasis,
  readCeiling,
  writeCeiling,
} from '../../../../../loadgen-node/observe/health/ceiling-file.ts';
import { generatorCeiling } from '../../../../../loadgen-node/operate/doctor/generator-ceiling.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a ceiling is told only where it holds. Method: files that are good, of another machine, and
// damaged.

const ceiling = {
  measuredAt: '2026-01-31T12:00:00.000Z',
  measuredOn: ceilingBasis(),
  inProcessQps: 1_000_000,
  loopbackQps: 90_000,
};

describe('the generator ceiling', () => {
  it('is read as it was written', () => {
    const folder = tempFolder();
    expect(readCeiling(folder)).toBeNull();
    writeCeiling(folder, ceiling);
    expect(readCeiling(folder)).toEqual(ceiling);
  });

  it('of a busy machine is kept with its date, and used as long as the machine is busy', async () => {
    const folder = tempFolder();
    const disturbed = { ...ceiling, isDisturbed: true };
    writeCeiling(folder, disturbed);
    const progress = () => expect.unreachable('it is kept');
    const options = { isAgain: false, isBusy: true };
    expect(await generatorCeiling(folder, options, { progress })).toEqual(disturbed);
  });

  it('of a busy machine is measured anew on a quiet one', async () => {
    const folder = tempFolder();
    writeCeiling(folder, { ...ceiling, isDisturbed: true });
    const progress = () => {
      throw new Error('measured');
    };
    const options = { isAgain: false, isBusy: false };
    await expect(generatorCeiling(folder, options, { progress })).rejects.toThrow('measured');
  });

  it('is void on another machine or with another version', () => {
    const folder = tempFolder();
    writeCeiling(folder, { ...ceiling, measuredOn: `${ceiling.measuredOn} or so` });
    expect(readCeiling(folder)).toBeNull();
  });

  it.each([
    ['cut off', '{"measuredAt": "2026'],
    ['no object', '7'],
    ['without a figure', JSON.stringify({ ...ceiling, loopbackQps: undefined })],
    ['with a figure of 0', JSON.stringify({ ...ceiling, loopbackQps: 0 })],
    ['with a text for a figure', JSON.stringify({ ...ceiling, inProcessQps: 'many' })],
  ])('is none when its file is %s', (_case, text) => {
    const folder = tempFolder();
    writeFileSync(writeCeiling(folder, ceiling), text);
    expect(readCeiling(folder)).toBeNull();
  });

  it('tells which folder cannot be written', () => {
    const folder = tempFolder();
    const file = writeCeiling(folder, ceiling);
    expect(() => writeCeiling(file, ceiling)).toThrow(file);
  });
});
