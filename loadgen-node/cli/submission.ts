import { checkTree } from '../submission/check/check-tree.ts';
import { dataVerb } from './data.ts';
import { buildVerb } from './submission-build.ts';
import { checkVerb } from './submission-check.ts';
import { packVerb } from './submission-pack.ts';
import { truncateVerb } from './submission-truncate.ts';
import { systemVerb } from './system.ts';
import { verb } from './verb.ts';

/** `longhaul submission`: from results to a tree to submit. */
export const submissionVerb = verb({
  verbs: {
    system: ['describe the machines of a run', systemVerb],
    data: ['write and check lists of the checksums of a data set', dataVerb],
    build: ['assemble a submission tree from runs', buildVerb],
    truncate: [
      'cut the accuracy logs of a tree as the rules want, and keep the originals',
      truncateVerb,
    ],
    check: [
      'check a tree as the official tool of its round does, and by the rules that no tool checks',
      checkVerb,
    ],
    pack: [
      'pack a tree for the upload: all divisions, with checksums, encrypted',
      packVerb(checkTree),
    ],
  },
});
