import { DESCRIBE_SETTINGS, describeSystem } from '../submission/system/describe-system.ts';
import { verb } from './verb.ts';

/** `longhaul submission system describe`: the description of a system that a submission needs. */
const describe = verb({
  settings: DESCRIBE_SETTINGS,
  groups: {
    keys: [
      ...['sut', 'local', 'output', 'merge', 'force', 'division', 'systemType', 'submitter'],
      ...['status', 'systemName', 'tlsCa', 'tlsCert', 'tlsKey', 'tokenFile'],
    ],
  },
  example: `
Examples:
  longhaul submission system describe --sut 10.0.0.2:50051 --output systems/acme.json
  longhaul submission system describe --local --output systems/acme-closed.json --submitter ACME

What cannot be read stays "TODO: ..." and is listed.

Exit codes: 0 written, also with such lines, 4 a node does not answer.`,
  action: ({ values }) => describeSystem(values),
});

/** `longhaul submission system`: facts about the machines of a run. */
export const systemVerb = verb({
  verbs: { describe: ['read the hosts of a run and write their description', describe] },
});
