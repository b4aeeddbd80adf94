import { isIP } from 'node:net';
import { protocolNamed } from '../../../qdl/protocols/index.ts';
import { counted } from '../../../shared/base/text.ts';
import { isLoopback, splitAddress } from '../../../shared/domain/node-address.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { contradictsResult } from '../../../shared/evidence/node-claims.ts';
import type { AuditFacts } from '../../observe/network-audit.ts';
import {
  type AuditRule,
  broken,
  brokenBy,
  COMPRESSION_TABLE,
  DIVISIONS_RULE,
  GENERAL_CONSTRAINTS,
  holds,
  type Judged,
  notProvable,
  notProvableAt,
  notProvableOf,
  QDL_CONSTRAINTS,
  requestsOf,
  serverText,
  V05_DIVISIONS,
  V05_INPUTS,
} from './audit-rule.ts';
import { answersOf, NEVER_ASKED } from './name-rules.ts';

/** Scenarios of the datacenter suite, the only suite of the Network division. */
const DATACENTER_SCENARIOS: readonly string[] = ['Server', 'Offline'];

/** The rules about encodings, machines and the run as a whole. */
export const SYSTEM_RULES: readonly AuditRule[] = [
  {
    id: 'compression-allowed',
    rule: 'Samples travel in a form that the rules allow for the benchmark.',
    source: COMPRESSION_TABLE,
    v05: { source: V05_INPUTS },
    judge: ({ run: { encoding }, compression: { breaches, rule } }) =>
      brokenBy(
        breaches,
        'Samples, queries or responses were compressed in a way that is not allowed.',
      ) ??
      holds(
        `Samples travelled as ${encoding.form}/${encoding.compression}, which is one of the options.`,
        rule === null ? [] : [`the rule: "${rule}"`],
      ),
  },
  {
    id: 'compression-by-library',
    rule: 'Only the sample library compresses, before the clock starts.',
    source: COMPRESSION_TABLE,
    judge: judgeEncodings,
    needs: { hasLedger: true },
    without: () =>
      notProvable(
        'The QDL has no code that compresses; which form arrived, the protocol does not tell.',
      ),
  },
  {
    id: 'grpc-compression-off',
    rule: ({ title, words }) =>
      `${words.wire.compression ?? `Compression of messages by ${title}`} is off.`,
    source: COMPRESSION_TABLE,
    judge: judgeGrpcCompression,
    without: ({ nodes, run }) => {
      const unanswered = nodes.filter(({ ours }) => ours.completedCount === 0);
      const { uncompressed } = protocolNamed(run.protocol).words.wire;
      return (
        notProvableAt(unanswered, 'There is no response of a server to look at.') ??
        (uncompressed === ''
          ? notProvable('Whether messages were compressed on the way, the protocol does not tell.')
          : holds(uncompressed))
      );
    },
  },
  {
    id: 'single-sut',
    rule: 'The QDL shows LoadGen one SUT, whatever the number of nodes.',
    source: QDL_CONSTRAINTS,
    judge: judgeSingleSut,
    needs: { message: 'part' },
    without: ({ nodes, nameCalls }) => {
      if (nameCalls.length === 0) return notProvable(NEVER_ASKED);
      const unused = nodes.filter((node) => requestsOf(node) === 0);
      return (
        notProvableAt(unused, 'No request went to some of the nodes.') ??
        holds('LoadGen saw one system under test with one name.', [
          `${counted(nodes.length, 'node')}, one name; servers are not told which run a request is of`,
        ])
      );
    },
  },
  {
    id: 'settings-named',
    rule: 'Parameters and configuration of the SUT are named.',
    source: GENERAL_CONSTRAINTS,
    judge: ({ nodes }) =>
      notProvableAt(
        nodes.filter(({ description }) => Object.keys(description?.settings ?? {}).length === 0),
        'A node reports no settings: the submission must name them.',
      ) ??
      holds(
        'Every node reported its settings by name; they stand in this file, with the versions.',
      ),
    without: notProvableOf(
      'The protocol reports name, version and tensors, and no settings of a server: the submission must name them.',
      serverText,
    ),
  },
  {
    id: 'datacenter-scenario',
    rule: 'The Network division knows the scenarios of the datacenter suite only.',
    source: DIVISIONS_RULE,
    judge: ({ run: { scenario } }) =>
      DATACENTER_SCENARIOS.includes(scenario)
        ? holds(`${scenario} is one of them.`)
        : broken(`${scenario} is not one of them (${DATACENTER_SCENARIOS.join(', ')}).`),
    v05: {
      rule: 'The round has the scenario.',
      source: 'paper of round v0.5, section 4.5 and figure 5',
      judge: ({ run: { scenario } }) =>
        holds(`${scenario} is one of its four, which every task may run in; it has no suites.`),
    },
  },
  {
    id: 'network-division',
    rule: 'The run enforced the rules of the Network division.',
    source: DIVISIONS_RULE,
    judge: ({ run }) =>
      run.division === 'network'
        ? holds('It ran with division "network": what breaks a rule is refused.')
        : broken('It ran with division "open", which allows more: not a Network-division result.'),
    v05: {
      rule: 'The run enforced the rules of the Network division of v4.1; round v0.5 has the divisions closed and open only.',
      source: V05_DIVISIONS,
    },
  },
  {
    id: 'fabric',
    rule: 'The systems are joined by a fabric (Ethernet, for example), not by a bus.',
    source: GENERAL_CONSTRAINTS,
    judge: () =>
      notProvable('The kind of link below TCP is not visible here: the submission must tell it.'),
  },
  {
    id: 'separate-machines',
    kind: 'topology',
    rule: 'QDL and SUT run on physically separate and distinct systems.',
    source: GENERAL_CONSTRAINTS,
    judge: judgeTopology,
    without: (facts) =>
      notProvableOf(
        'The protocol does not describe the machine of a server: only its address is known.',
        ({ address }) => {
          const [reached] = reachedAddresses(address, facts.nameCalls);
          const host = reached ?? splitAddress(address)?.host ?? address;
          return `${host} is no address of the LoadGen node`;
        },
      )(facts),
  },
];

/** longhaul's own rule: MLPerf's rules do not mention a node that contradicts itself. */
export const CLAIMS_RULE: AuditRule = {
  id: 'claims-possible',
  rule: 'What a SUT node says of a run can be: it contradicts neither the protocol nor what was seen here.',
  source: 'longhaul: what the result is believed by',
  judge: judgeClaims,
  needs: { hasLedger: true },
  without: () => notProvable('A server reports no counts of the run to compare with.'),
};

function judgeEncodings({ run, nodes }: AuditFacts): Judged {
  const { form, compression } = run.encoding;
  const evidence = nodes.map(({ address, theirs }) => {
    const seen = theirs?.encodings.map((one) => `${one.form}/${one.compression}`).join(', ');
    return `${address}: sent ${form}/${compression}, seen there on samples ${seen || 'not reported'}`;
  });
  const isOther = nodes.some((node) =>
    node.theirs?.encodings.some((one) => one.form !== form || one.compression !== compression),
  );
  if (isOther) return broken('A SUT node saw another encoding than the library made.', evidence);
  const isSilent = ({ ours, theirs }: NodeEvidence): boolean =>
    theirs === null || (theirs.encodings.length === 0 && ours.sampleCount > 0);
  if (nodes.some(isSilent)) {
    return notProvable('A SUT node does not tell which encodings it saw.', evidence);
  }
  return holds(
    'The nodes saw just the encoding of the library; the QDL has no code that compresses.',
    evidence,
  );
}

function judgeGrpcCompression({ nodes }: AuditFacts): Judged {
  const own = 'The QDL opens every connection with it off';
  const looked = nodes.map(({ address, streams }) => {
    const checked = streams.filter(({ compressionCheck }) => compressionCheck === 'checked').length;
    return {
      isWhole: checked > 0 && checked === streams.length,
      line: `${address}: looked at on ${checked} of ${counted(streams.length, 'stream')}`,
    };
  });
  const evidence = looked.map(({ line }) => line);
  return looked.every(({ isWhole }) => isWhole)
    ? holds(
        `${own}, and ends a stream on which the SUT node says that it compresses: none did.`,
        evidence,
      )
    : notProvable(
        `${own}, but whether the SUT node compresses could not be looked at on every stream.`,
        evidence,
      );
}

function judgeSingleSut({ nameCalls, nodes, run }: AuditFacts): Judged {
  const names = [...new Set(nameCalls.flatMap(({ name }) => name ?? []))];
  if (names.length > 1) return broken('The name of the SUT changed during the run.', names);
  const unused = nodes.filter(({ streams }) => streams.length === 0);
  return (
    notProvableAt(unused, 'The run broke off before every node had opened its streams.') ??
    holds('LoadGen saw one system under test with one name.', [
      `${counted(nodes.length, 'node')}, one name, one run id (${run.runId}) on all their streams`,
    ])
  );
}

function judgeTopology(facts: AuditFacts): Judged {
  const judged = facts.nodes.map(({ address, description }) => ({
    address,
    ...judgeMachine(address, description?.host?.bootId ?? '', facts),
  }));
  const evidence = judged.map(({ address, why }) => `${address}: ${why}`);
  const here = judged.filter(({ verdict }) => verdict === 'broken');
  if (here.length > 0) {
    const addresses = here.map(({ address }) => address).join(', ');
    return broken(
      `LoadGen and SUT are on one machine (${addresses}): not a topology of the Network division.`,
      evidence,
    );
  }
  if (judged.some(({ verdict }) => verdict === 'not-provable')) {
    return notProvable('A node does not tell which machine it runs on.', evidence);
  }
  return holds(
    'Every node runs under another start of another system than LoadGen. Whether that is a machine of its ' +
      'own or a virtual one beside it cannot be seen from here.',
    evidence,
  );
}

/** Compares a node's machine with ours: by the system's boot time, and by the address reached. */
function judgeMachine(
  address: string,
  bootId: string,
  { loadgenNode, nameCalls }: AuditFacts,
): Judged {
  const ours = loadgenNode.host;
  if (bootId !== '' && bootId === ours.bootId) return broken(`both ends have boot id ${bootId}`);
  const host = splitAddress(address)?.host ?? '';
  const named = isIP(host) > 0 || host === 'localhost' ? [host] : [];
  const local = [...named, ...reachedAddresses(address, nameCalls)].find(
    (ip) => isLoopback(ip) || ours.addresses.includes(ip),
  );
  if (local !== undefined) return broken(`${local} is an address of the LoadGen node itself`);
  if (bootId === '' || ours.bootId === '') {
    const whose = bootId === '' ? 'the SUT node' : 'the LoadGen node';
    return notProvable(`the boot id of ${whose} is not known`);
  }
  return holds(`boot id ${bootId} there, ${ours.bootId} here`);
}

/** IP addresses reached by TCP connects to a node's address, if known. */
function reachedAddresses(address: string, calls: AuditFacts['nameCalls']): string[] {
  return answersOf(address, calls).flatMap(({ remoteAddress }) => remoteAddress ?? []);
}

/** Broken by claims that contradict the result; claims that affect no figure are evidence only. */
function judgeClaims({ nodes }: AuditFacts): Judged {
  const claims = nodes.flatMap(({ claims: ofNode }) => ofNode);
  const evidence = nodes.flatMap(({ address, claims: ofNode }) =>
    ofNode.map(({ kind, count, text }) => `${address}: ${text} (${kind}, ${count} in all)`),
  );
  if (claims.some(contradictsResult)) {
    return broken('A SUT node said what contradicts the result.', evidence);
  }
  if (claims.length > 0) {
    return holds(
      'A SUT node reported impossible values, but none that a figure of the result uses.',
      evidence,
    );
  }
  return holds('No impossible value was reported.');
}
