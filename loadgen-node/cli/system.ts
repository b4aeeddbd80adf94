import { DESCRIBE_SETTINGS, describeSystem } from '../submission/system/describe-system.ts';
import { verb } from './verb.ts';

/** `longhaul system describe`: the description of a system that a submission needs. */
const describe = verb({
  settings: DESCRIBE_SETTINGS,
  example: `
What cannot be read stays "TODO: ..." and is listed. Exit code 0 also then; 4 when a node does not answer.

Examples:
  longhaul system describe --sut 10.0.0.2:50051 --output systems/acme.json --merge acme.yaml
  longhaul system describe --local --output systems/acme-closed.json --submitter ACME`,
  action: ({ values }) => describeSystem(values),
});

/** `longhaul system`: what the machines of a run are. */
export const systemVerb = verb({
  verbs: { describe: ['read the hosts of a run and write their description', describe] },
});
