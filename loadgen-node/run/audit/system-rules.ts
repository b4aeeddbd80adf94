import { isIP } from 'node:net';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { NodeEvidence } from '../../../shared/evidence/network-evidence.ts';
import {
  type AuditRule,
  broken,
  COMPRESSION_TABLE,
  DIVISIONS_RULE,
  GENERAL_CONSTRAINTS,
  holds,
  type Judged,
  notProvable,
  QDL_CONSTRAINTS,
} from '../../observe/audit/finding.ts';
import type { AuditFacts } from '../../observe/audit/network-audit.ts';

/** Scenarios of the datacenter suite, the only one that the Network division knows. */
const DATACENTER_SCENARIOS: readonly string[] = ['Server', 'Offline'];

/** The rules about encodings, machines and the run as a whole. */
export const SYSTEM_RULES: readonly AuditRule[] = [
  {
    id: 'compression-allowed',
    rule: 'Samples travel in a form that the rules allow for the benchmark.',
    source: COMPRESSION_TABLE,
    judge: judgeAllowed,
  },
  {
    id: 'compression-by-library',
    rule: 'Only the sample library compresses, before the clock starts.',
    source: COMPRESSION_TABLE,
    judge: judgeEncodings,
  },
  {
    id: 'grpc-compression-off',
    rule: "gRPC's own compression of messages is off.",
    source: COMPRESSION_TABLE,
    judge: judgeGrpcCompression,
  },
  {
    id: 'single-sut',
    rule: 'The QDL shows LoadGen one SUT, whatever the number of nodes.',
    source: QDL_CONSTRAINTS,
    judge: judgeSingleSut,
  },
  {
    id: 'settings-named',
    rule: 'Parameters and configuration of the SUT are named.',
    source: GENERAL_CONSTRAINTS,
    judge: judgeSettings,
  },
  {
    id: 'datacenter-scenario',
    rule: 'The Network division knows the scenarios of the datacenter suite only.',
    source: DIVISIONS_RULE,
    judge: judgeScenario,
  },
  {
    id: 'network-division',
    rule: 'The run enforced the rules of the Network division.',
    source: DIVISIONS_RULE,
    judge: ({ run }) =>
      run.division === 'network'
        ? holds('It ran with division "network": what breaks a rule is refused.')
        : broken('It ran with division "open", which allows more: not a Network-division result.'),
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
  },
];

function judgeAllowed({ run, compression: { breaches, rule } }: AuditFacts): Judged {
  const { form, compression } = run.encoding;
  if (breaches.length > 0) {
    return broken(
      'Samples, queries or responses were compressed in a way that is not allowed.',
      breaches,
    );
  }
  const why = `Samples travelled as ${form}/${compression}, which is one of the options.`;
  return holds(why, rule === null ? [] : [`the rule: "${rule}"`]);
}

function judgeEncodings({ run, nodes }: AuditFacts): Judged {
  const { form, compression } = run.encoding;
  const sent = `${form}/${compression}`;
  const evidence = nodes.map(({ address, theirs }) => {
    const seen = theirs?.encodings.map((one) => `${one.form}/${one.compression}`).join(', ');
    return `${address}: sent ${sent}, seen there on samples ${seen || 'not told'}`;
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
  const evidence = nodes.map(({ address, streams }) => {
    const checked = streams.filter(({ compressionCheck }) => compressionCheck === 'checked');
    return `${address}: looked at on ${checked.length} of ${streams.length} stream(s)`;
  });
  const isChecked = nodes.every(
    ({ streams }) =>
      streams.length > 0 && streams.every(({ compressionCheck }) => compressionCheck === 'checked'),
  );
  return isChecked
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
  const evidence = [
    `${nodes.length} node(s), one name, one run id (${run.runId}) on all their streams`,
  ];
  const names = new Set(nameCalls.flatMap(({ name }) => (name === null ? [] : [name])));
  if (names.size > 1) return broken('The name of the SUT changed during the run.', [...names]);
  const unused = nodes.filter(({ streams }) => streams.length === 0);
  if (unused.length > 0) {
    const addresses = unused.map(({ address }) => address);
    return notProvable('The run broke off before every node had opened its streams.', addresses);
  }
  return holds('LoadGen saw one system under test with one name.', evidence);
}

function judgeSettings({ nodes }: AuditFacts): Judged {
  const silent = nodes.filter(
    ({ description }) => Object.keys(description?.settings ?? {}).length === 0,
  );
  if (silent.length === 0) {
    return holds(
      'Every node told its settings by name; they stand in this file, with the versions.',
    );
  }
  const addresses = silent.map(({ address }) => address);
  return notProvable('A node tells no settings: the submission must name them.', addresses);
}

function judgeScenario({ run }: AuditFacts): Judged {
  return DATACENTER_SCENARIOS.includes(run.scenario)
    ? holds(`${run.scenario} is one of them.`)
    : broken(`${run.scenario} is none of them (${DATACENTER_SCENARIOS.join(', ')}).`);
}

function judgeTopology(facts: AuditFacts): Judged {
  const judged = facts.nodes.map((node) => judgeMachine(node, facts));
  const evidence = judged.map(({ why }) => why);
  if (judged.some(({ verdict }) => verdict === 'broken')) {
    const here = facts.nodes.filter((_, i) => judged[i]?.verdict === 'broken');
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

/** One node's machine against ours: by the start of the system, and by the address that was reached. */
function judgeMachine(node: NodeEvidence, { loadgenNode, nameCalls }: AuditFacts): Judged {
  const { address } = node;
  const ours = loadgenNode.host;
  const bootId = node.description?.host?.bootId ?? '';
  if (bootId !== '' && bootId === ours.bootId) {
    return broken(`${address}: both ends have boot id ${bootId}`);
  }
  const reached = reachedAddresses(node, nameCalls);
  const local = reached.find((ip) => isLoopback(ip) || ours.addresses.includes(ip));
  if (local !== undefined) {
    return broken(`${address}: ${local} is an address of the LoadGen node itself`);
  }
  if (bootId === '' || ours.bootId === '') {
    return notProvable(
      `${address}: the boot id of ${bootId === '' ? 'the SUT node' : 'the LoadGen node'} is not known`,
    );
  }
  return holds(`${address}: boot id ${bootId} there, ${ours.bootId} here`);
}

/** IP addresses behind a node's address, as far as they are known. */
function reachedAddresses({ address }: NodeEvidence, calls: AuditFacts['nameCalls']): string[] {
  const host = splitAddress(address)?.host ?? '';
  const named = isIP(host) > 0 || host === 'localhost' ? [host] : [];
  const reached = calls
    .flatMap(({ nodes }) => nodes)
    .flatMap((node) =>
      node.address === address && node.remoteAddress !== null ? [node.remoteAddress] : [],
    );
  return [...new Set([...named, ...reached])];
}

function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.|^::1$|^localhost$/.test(address);
}
