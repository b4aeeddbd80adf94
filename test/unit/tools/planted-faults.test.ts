import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { repositoryText } from '../../scenes/host/repository.ts';

/** A row of the list: `from` becomes `to` in the file, and a test must fail. */
interface PlantedFault {
  readonly id: string;
  readonly file: string;
  readonly from: string;
}

const FAULTS = parse(repositoryText('test/tools/planted-faults.yaml')) as readonly PlantedFault[];

// Goal: each fault of the list can still be planted. Method: its text is in its file, once.
it.each(FAULTS)('$id', ({ file, from }) => {
  expect(repositoryText(file).split(from)).toHaveLength(2);
});
