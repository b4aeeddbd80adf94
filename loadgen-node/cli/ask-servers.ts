import { probedSchemes } from '../../qdl/protocols/index.ts';
import { PROBE_SETTINGS, probeServer } from '../operate/probe/probe-server.ts';
import { askNodeNames, NAME_SETTINGS } from '../run/ask-nodes.ts';
import { nameLines } from '../run/screen/print-report.ts';
import { HEALTH_ABOUT, healthVerb } from './health.ts';
import { verb } from './verb.ts';

/** `longhaul probe name`: the result of LoadGen's Name(), and each node's round trip. */
export const nameVerb = verb({
  settings: NAME_SETTINGS,
  example: `
Example:
  longhaul probe name 10.0.0.2:50051 10.0.0.3:50051`,
  action: async ({ values }) => {
    const call = await askNodeNames(values);
    return { text: `${nameLines([call]).join('\n')}\n`, json: call };
  },
});

/** `longhaul probe`: what a server has, and a run against it. */
export const probeVerb = verb({
  takes: {
    '<address>': probedSchemes()
      .map((scheme) => `${scheme}host:port`)
      .join(', '),
  },
  settings: PROBE_SETTINGS,
  example: `
Examples:
  longhaul probe ${probedSchemes()[0]}10.0.0.4:8001 --model resnet50 --output run.yaml
  longhaul run --config run.yaml

Asks and prints what there is: no inference, no load. docs/other-servers.md

Exit codes: 0 the server answers, 2 wrong flag, 4 no answer, another service, or no such model,
6 the file cannot be written.`,
  verbs: {
    name: ['ask SUT nodes for their names: one round trip to each', nameVerb],
    health: [HEALTH_ABOUT, healthVerb],
  },
  action: ({ values }, address: string) => probeServer(address, values),
});
