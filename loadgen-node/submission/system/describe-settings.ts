import {
  addressList,
  choice,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { CONNECTION_OPTIONS } from '../../run/plan/connection-options.ts';
import { DISPATCH_OPTIONS } from '../../run/plan/dispatch-options.ts';
import { SUBMISSION_DIVISIONS, SUITES } from '../rules/submission-rounds.ts';

/** Settings of `longhaul system describe`. */
export const DESCRIBE_SETTINGS = {
  sut: addressList('addresses of the SUT nodes, as in the run'),
  local: toggle('a closed system: LoadGen and SUT on this machine, which alone is described'),
  output: text(
    'file',
    'description to write, systems/NAME.json; facts go to systems/NAME.facts.json',
    {
      required: true,
    },
  ),
  merge: text(
    'file',
    'YAML or JSON with fields that win over what is read; may be the description itself',
  ),
  force: toggle('replace a description that is there'),
  division: choice(SUBMISSION_DIVISIONS, 'division (default: network; closed with --local)'),
  systemType: choice(SUITES, 'suite; the Network division knows datacenter only', {
    fallback: 'datacenter',
  }),
  submitter: text('name', 'organisation that submits'),
  status: choice(['available', 'preview', 'rdi'], 'whether the system can be bought'),
  systemName: text('name', 'name of the system in tables of results'),
  streams: DISPATCH_OPTIONS.streams,
  connections: DISPATCH_OPTIONS.connections,
  ...CONNECTION_OPTIONS,
};

/** Effective values of {@link DESCRIBE_SETTINGS}. */
export type DescribeValues = SettingValues<typeof DESCRIBE_SETTINGS>;
