import { NETWORK_SUT } from '../../../../shared/domain/system-under-test.ts';
import { countOf, isNetworkSystem, textOf } from '../read/description-values.ts';
import type { RunLog, SeenRecord } from '../read/run-log.ts';
import type { Answer, ResultFacts, RunFacts } from '../read/sites.ts';
import { inferenceRules, type RuleTable } from './rule.ts';

/** Record of Name()'s duration. */
const NAME_TIME = 'get_sut_name_duration_ns';

/** Shorter than any round trip over a permitted fabric and through a process, in ns. */
const ROUND_TRIP_NS_MIN = 2_000;

/** Shorter than a round trip through two hosts' TCP stacks, in ns. */
const TCP_ROUND_TRIP_NS_MIN = 15_000;

/** Longer than any node needs to report its name, in ns. */
const ROUND_TRIP_NS_MAX = 1e9;

/** First LoadGen that logs the duration of Name(). */
const FIRST_WITH_TIME = 2.1;

/** Protocols over TCP, and those that are not although they mention it. */
const OVER_TCP = /\b(?:TCP|gRPC|HTTP)/i;
const REMOTE_MEMORY = /RDMA|RoCE|iWARP|verbs/i;

/** Patterns showing that several nodes answered: a list, or a word for it. */
const SEVERAL_NODES = /[,;|+&]|\bmulti-?\s?node\b|\bnodes\b/i;

/** Rules about Name(), using the logs of all runs of a result. */
export const SUT_NAME_RULES = {
  'name-without-round-trip': {
    by: [inferenceRules('QDL Constraints')],
    rule: 'Name() makes a network round trip before it returns.',
    advice: 'Ask the nodes in Name(), every time.',
    read: (facts) =>
      nameTimes(facts, (time, run) => {
        const quickest = quickestAnswer(facts, run);
        const measured = quickest > 0 ? `; the nodes took ${quickest} ns to answer` : '';
        return time < Math.max(quickest, ROUND_TRIP_NS_MIN) && measured;
      }),
  },
  'name-quicker-than-tcp': {
    severity: 'warning',
    by: [inferenceRules('QDL Constraints')],
    rule: 'Name() takes as long as a round trip over TCP, where the description says TCP, gRPC or HTTP (15 us).',
    advice: 'Ask the nodes in Name(), every time; else be ready to explain how TCP is so quick.',
    read: (facts) => {
      const protocol = textOf(facts.description?.['network_protocol']);
      if (!OVER_TCP.test(protocol) || REMOTE_MEMORY.test(protocol)) return false;
      const isQuick = (time: number) => time >= ROUND_TRIP_NS_MIN && time < TCP_ROUND_TRIP_NS_MIN;
      return nameTimes(facts, (time) => isQuick(time) && `; network_protocol is "${protocol}"`);
    },
  },
  'name-slow': {
    severity: 'note',
    by: [],
    rule: 'Name() takes less than a second.',
    because: 'a node tells its name at once',
    advice: 'Look whether a node was waited for, or whether the clock was set.',
    read: (facts) =>
      nameTimes(
        facts,
        (time) => time > ROUND_TRIP_NS_MAX && `; ${time} ns are ${Math.round(time / 1e9)} s`,
      ),
  },
  'name-time-missing': {
    severity: 'note',
    by: [],
    rule: 'A log of LoadGen 2.1 or later has the time of Name().',
    because: 'without it nothing shows the round trip',
    advice: 'Take the log as LoadGen wrote it.',
    read: (facts) =>
      logsOverNetwork(facts).map(
        ([, log]) =>
          log.record(NAME_TIME) === undefined &&
          loadgenOf(log) >= FIRST_WITH_TIME &&
          log.at(NAME_TIME, `It has no record of ${NAME_TIME}.`),
      ),
  },
  'sut-names-differ': {
    severity: 'warning',
    by: [inferenceRules('QDL Constraints')],
    rule: 'All runs of a result, the accuracy run among them, name one SUT.',
    advice: 'Make the runs with one SUT, or be ready to explain the names.',
    read: (facts) => {
      const runsOf = new Map<string, string[]>();
      const logs = logsOverNetwork(facts).filter(([, log]) => log.record('sut_name') !== undefined);
      for (const [run, log] of logs) {
        const name = String(log.value('sut_name'));
        runsOf.set(name, [...(runsOf.get(name) ?? []), run]);
      }
      const texts = [...runsOf].map(([name, runs]) => `"${name}" in ${runs.join(', ')}`);
      return runsOf.size > 1 && logs[0]?.[1].at('sut_name', `It is ${texts.join('; ')}.`);
    },
  },
  'accuracy-sut-name': {
    severity: 'warning',
    by: [inferenceRules('QDL Constraints')],
    rule: 'The name of the SUT contains "Network SUT" in the accuracy run as well.',
    advice: 'Give the SUT such a name and make the run again.',
    accuracy: (run) => isNetworkSystem(run) && nameWithoutNetwork(run),
  },
  'name-without-nodes': {
    severity: 'warning',
    by: [inferenceRules('QDL Constraints')],
    rule: 'The name of a SUT of several nodes is made of the names of all of them.',
    advice: 'Ask every node in Name() and join their names; correct number_of_nodes if it is one.',
    read: (facts) => {
      const nodes = countOf(facts.description?.['number_of_nodes']) ?? 1;
      const [first] = logsOverNetwork(facts);
      // An audit lists the nodes: other rules compare their number and names with it.
      if (nodes < 2 || first === undefined || facts.audits.size > 0) return false;
      const name = String(first[1].value('sut_name') ?? '');
      if (name === '' || SEVERAL_NODES.test(name)) return false;
      const { layout, division, submitter, system } = facts;
      const text = `number_of_nodes is ${nodes}, and the name in the logs "${name}".`;
      return { file: layout.system(division, submitter, system), text };
    },
  },
} as const satisfies RuleTable;

/** Logs of a result's network runs, performance first; empty in closed. */
function logsOverNetwork(facts: ResultFacts): readonly (readonly [run: string, log: RunLog])[] {
  return isNetworkSystem(facts) ? [...facts.runs] : [];
}

/**
 * One finding about the durations of Name() in a result's logs.
 * @param check Text after a wrong duration.
 */
function nameTimes(
  facts: ResultFacts,
  check: (time: number, run: string) => string | false,
): SeenRecord | false {
  const all = logsOverNetwork(facts);
  const wrong = all.flatMap(([run, log]) => {
    const time = log.number(NAME_TIME);
    const why = time === undefined ? false : check(time, run);
    return time === undefined || why === false ? [] : [{ log, time, why }];
  });
  const [first] = wrong;
  if (first === undefined) return false;
  const times = wrong.map(({ time }) => time);
  const [least, most] = [Math.min(...times), Math.max(...times)];
  const range = least === most ? `${least} ns` : `${least} to ${most} ns`;
  const where = all.length === 1 ? '' : ` in ${wrong.length} of ${all.length} logs`;
  return first.log.at(NAME_TIME, `Name() took ${range}${where}${first.why}.`);
}

/** The shortest time in which all nodes of a run answered, in ns; 0 without an audit. */
function quickestAnswer({ audits }: ResultFacts, run: string): number {
  const calls = (audits.get(run)?.nameCalls ?? []).map(({ nodes }) =>
    Math.max(0, ...nodes.map(({ roundTripNs }) => roundTripNs ?? 0)),
  );
  return calls.length === 0 ? 0 : Math.min(...calls);
}

/** LoadGen version of a log as a number: 2.1; an unstated one counts as the newest. */
function loadgenOf(log: RunLog): number {
  const version = /^\d+\.\d+/.exec(String(log.value('loadgen_version') ?? ''))?.[0];
  return version === undefined ? Infinity : Number(version);
}

export function nameWithoutNetwork({ log }: RunFacts): Answer {
  return log.wrong('sut_name', (name) => {
    const isRight = String(name).includes(NETWORK_SUT);
    return !isRight && `The name is "${String(name)}", without "${NETWORK_SUT}".`;
  });
}
