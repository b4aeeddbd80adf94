import { describe, expect, it } from 'vitest';
import { runText } from '../../../../../loadgen-node/operate/remote/remote-text.ts';

// Goal: LoadGen's folder on its host is told by its name here, whatever characters either has.

const measured = {
  ...{ exitCode: 0, fetched: { files: 1, bytes: 5 }, warnings: [] },
  remoteOutput: '/home/o"neil/results/run-1',
};

describe('the end of a run', () => {
  it.each(['results/first', 'q"uote', 'back\\slash', "$& and $' and $1"])(
    'has the folder %s in text and document',
    (output) => {
      const { remoteOutput } = measured;
      const document = { files: [`${remoteOutput}/log.txt`], sutName: 'sut-a', count: 5 };
      const { json } = runText(JSON.stringify(document), { ...measured, output }, true);
      const run = { ...document, files: [`${output}/log.txt`] };
      expect(json).toMatchObject({ output, exitCode: 0, run });
      const { text } = runText(`Logs  ${remoteOutput}/\n`, { ...measured, output }, false);
      expect(text).toBe(`Logs  ${output}/\n`);
    },
  );

  it('has no document where LoadGen said none', () => {
    const { json } = runText('', { ...measured, output: 'out' }, true);
    expect(json).toMatchObject({ run: null });
  });
});
