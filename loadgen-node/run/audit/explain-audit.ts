import { type Protocol, protocolNamed } from '../../../qdl/protocols/index.ts';
import { asOneLine, wrapped } from '../../../shared/base/text.ts';
import type { RequestEvidence, ServerEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { softwareOf } from '../../../shared/evidence/server-evidence.ts';
import { hasNetworkDivision } from '../../../shared/rules/rounds/rounds.ts';
import type { AuditFinding, NetworkAudit } from '../../observe/network-audit.ts';
import { brokenFindings } from './compose-audit.ts';

const LABEL_WIDTH = 16;

const LABELS: Readonly<Record<AuditFinding['verdict'], string>> = {
  holds: 'HOLDS',
  broken: 'BROKEN',
  'not-provable': 'NOT PROVABLE',
};

/** Marks of findings that are not about a rule. */
const KIND_MARKS: Readonly<Record<AuditFinding['kind'], string>> = {
  rule: '',
  topology: ' *',
  path: ' +',
};

/** Explains the mark of a finding about the path. */
const PATH_NOTE =
  'What is marked + is a finding of longhaul: the rules do not forbid a load balancer, they count it as part of the SUT.';

/** Which rules apply to a v0.5 run: stated once here, and per rule in its source. */
const ROUND_NOTE =
  'v0.5, which has no Network division, only closed and open (paper, section 5.1.1), and says nothing of a network between ' +
  'LoadGen and SUT. So the run is held to the Network division of v4.1, the oldest text of it that longhaul has: without ' +
  'it nothing would say that the network was measured. Where v0.5 has a rule of its own, that is quoted.';

/** The audit of a run in plain words, rule by rule, ending with a newline. */
export function explainAudit(audit: NetworkAudit): string {
  const { run, loadgenNode, nodes, rules } = audit;
  const protocol = protocolNamed(run.protocol);
  const { shown, proxies, beyond } = protocol.words.evidence;
  const shows = [...shown, [PATH_NOTE, proxies].join(' ').trim(), beyond];
  const { server: requests } = audit;
  const lines = [
    `Run ${run.runId}`,
    row('Benchmark', `${run.benchmark}, ${run.scenario}, ${run.mode}, division ${run.division}`),
    ...(hasNetworkDivision(run.round) ? [] : wrapped(ROUND_NOTE, LABEL_WIDTH, 'Round')),
    ...(requests === null ? [] : requestLines(protocol, requests)),
    row('LoadGen node', `${loadgenNode.host.hostname}, ${versionOf(loadgenNode)}`),
    ...nodes.flatMap((node) => {
      const { address, description, streams, theirs } = node;
      const { server } = node;
      if (server !== undefined)
        return wrapped(serverLine(address, server), LABEL_WIDTH, 'SUT node');
      const name = description?.name ?? streams[0]?.nodeName ?? 'name not reported';
      const host = description?.host?.hostname ?? 'host not reported';
      const software = description === null ? 'software not reported' : versionOf(description);
      const lines = wrapped(
        `${name} at ${address} on ${host}, ${software}`,
        LABEL_WIDTH,
        'SUT node',
      );
      const replaced = theirs?.replacedWorkerCount ?? 0;
      return replaced === 0
        ? lines
        : [...lines, row('', `Workers that it lost during the run and replaced: ${replaced}.`)];
    }),
    ...(run.isComplete ? [] : [row('', 'The run did not come to its end.')]),
    ...(run.wasInterrupted ? [row('', 'The run was interrupted: it is no result.')] : []),
    '',
    ...rules.flatMap(explainFinding),
    ...summaryOf(audit),
    '',
    'What this evidence shows, and what it does not:',
    ...shows.flatMap((text) => wrapped(text, 2, '- ')),
  ];
  // Texts may come from a SUT node: each must stay on one line.
  return `${lines.map((line) => asOneLine(line)).join('\n')}\n`;
}

function requestLines({ title, words }: Protocol, requests: RequestEvidence): string[] {
  const { service, plan, notes } = requests;
  const method = plan === null ? '' : `, ${words.methods[plan.method] ?? plan.method}`;
  return [
    row('Protocol', `${title.replace(/^the /, '')}, ${service}${method}`),
    ...notes.flatMap((note) => wrapped(note, LABEL_WIDTH)),
  ];
}

function serverLine(address: string, server: ServerEvidence): string {
  const { modelName, modelVersions, platform } = server;
  const versions = modelVersions.length === 0 ? '' : `, version ${modelVersions.join(', ')}`;
  const kind = platform === '' ? '' : ` (${platform})`;
  return `${softwareOf(server) || 'name not reported'} at ${address}, model ${modelName}${versions}${kind}`;
}

function explainFinding(finding: AuditFinding): string[] {
  const { id, verdict, kind, rule, source, why, evidence } = finding;
  const label = `${LABELS[verdict]}${KIND_MARKS[kind]}`;
  return [
    ...wrapped(rule, LABEL_WIDTH, label),
    ...wrapped(why, LABEL_WIDTH),
    ...evidence.flatMap((line) => wrapped(line, LABEL_WIDTH + 2, `${' '.repeat(LABEL_WIDTH)}- `)),
    ...wrapped(`(${id}; ${source})`, LABEL_WIDTH),
    '',
  ];
}

function summaryOf(audit: NetworkAudit): string[] {
  const count = (verdict: AuditFinding['verdict']): number =>
    audit.rules.filter((one) => one.verdict === verdict).length;
  const broken = brokenFindings(audit);
  const names = broken.map(({ id, kind }) => (kind === 'rule' ? id : `${id} (${kind})`));
  const list = names.length === 0 ? '' : `: ${names.join(', ')}`;
  const text =
    `${audit.rules.length} rules: ${count('holds')} hold, ${count('not-provable')} not provable by this ` +
    `protocol, ${broken.length} broken${list}.`;
  if (broken.length === 0) return [text];
  const isTopologyOnly = broken.every(({ kind }) => kind === 'topology');
  const division = `the Network division${hasNetworkDivision(audit.run.round) ? '' : ' of v4.1'}`;
  return [
    text,
    isTopologyOnly
      ? `The software kept the rules; the machines do not stand as ${division} asks (*).`
      : `This is not a result of ${division}.`,
  ];
}

function versionOf({ software, softwareVersion }: { software: string; softwareVersion: string }) {
  return software === '' ? 'software not reported' : `${software} ${softwareVersion}`;
}

function row(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH)}${text}`;
}
