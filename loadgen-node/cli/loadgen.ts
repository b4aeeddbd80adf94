import { compareEnginesVerb } from './compare-engines.ts';
import { linkVerb } from './link.ts';
import { listVerb, verifyVerb } from './linked.ts';
import { compressionVerb, confVerb } from './rounds.ts';
import { selfCheckVerb } from './self-check.ts';
import { settingsVerb } from './settings.ts';
import { traceVerb } from './trace.ts';
import { verb } from './verb.ts';

/** `longhaul loadgen`: what checks or explains LoadGen. */
export const loadgenVerb = verb({
  verbs: {
    link: ['link your C++ LoadGen, so that it issues the queries of a run', linkVerb],
    list: ['show the C++ LoadGens that are linked', listVerb],
    verify: ['check the linked C++ LoadGen against its checkout', verifyVerb],
    compare: ['compare the C++ LoadGen and longhaul on a run by both', compareEnginesVerb],
    settings: ["show what LoadGen's configuration files set", settingsVerb],
    conf: ["write a round's mlperf.conf to stdout", confVerb],
    trace: ['print what a test would issue, as JSON', traceVerb],
    compression: ['show what the rules allow to compress', compressionVerb],
    'self-check': ["compare this program's files with its manifest", selfCheckVerb],
  },
});
