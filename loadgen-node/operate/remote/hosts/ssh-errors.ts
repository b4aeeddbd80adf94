import type { AgentCallEnd } from './host-link.ts';

/** What ssh says, and what a person can do about it. In the order in which they are looked for. */
const MEANINGS: readonly (readonly [RegExp, (host: string) => string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    (host) =>
      `its host key is another one than the one that is known here: find out why, then "ssh-keygen -R" it and log in once by "ssh ${host}"`,
  ],
  [
    /Host key verification failed|No \S+ host key is known/,
    (host) =>
      `its host key is not known here: log in once by "ssh ${host}" and compare the fingerprint`,
  ],
  [
    /Permission denied|Too many authentication failures/,
    (host) =>
      `it refuses the login: "ssh -o BatchMode=yes ${host} true" must work without a question (key in ssh-agent or ~/.ssh/config, public key on the host)`,
  ],
  [
    /Could not resolve hostname/,
    () => 'there is no host of this name, neither in DNS nor in ~/.ssh/config',
  ],
  [/Connection refused/, () => 'nothing listens on its ssh port: is sshd running there?'],
  [
    /timed out|No route to host|Network is unreachable|banner exchange/,
    () => 'it does not answer: is it switched on, and the network up?',
  ],
  [
    /Bad configuration option|Can't open user config file|no argument after keyword/,
    () => 'ssh does not take its configuration',
  ],
  [/spawn ssh ENOENT/, () => 'there is no program ssh on this machine: install OpenSSH'],
];

/** Words of ssh about a connection that was there. */
const OF_CONNECTION = /broken pipe|connection|disconnect|time.?out|not responding|^mux_client/i;

/** Exit code of an agent that could not do what it should (agent-basics.ts); neither longhaul nor ssh has it. */
export const AGENT_FAILED = 254;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Why an agent did not answer. @param host As the inventory calls it. */
export function explainSsh(
  host: string,
  { code, stderr, isGreeted, nodeVersion, problem }: AgentCallEnd,
): string {
  if (problem !== undefined) return problem;
  const said = lastLineOf(stderr);
  const cited = said === '' ? '' : ` (${said})`;
  if (isGreeted && !isNodeNew(nodeVersion)) return oldNode(nodeVersion);
  if (isGreeted && code === AGENT_FAILED) return agentError(stderr);
  // What a program on the host said last is no reason of the connection's.
  if (isGreeted) return `the connection broke off${OF_CONNECTION.test(said) ? cited : ''}`;
  if (code === NOT_FOUND || code === NOT_EXECUTABLE) {
    return `there is no Node.js where its shell looks for programs: install Node.js 20.19 or newer, or say "nodePath" in the inventory${cited}`;
  }
  const meaning = MEANINGS.find(([pattern]) => pattern.test(stderr));
  if (meaning !== undefined) return `${meaning[1](host)}${cited}`;
  return `no connection${cited === '' ? ` (exit code ${code})` : cited}`;
}

/** What an agent says on stderr that cannot do what it should (agent.ts). */
function agentError(stderr: string): string {
  const said = /^longhaul-agent: (.*)$/m.exec(stderr)?.[1];
  return said ?? 'its agent failed and did not say why';
}

/** Whether longhaul runs with a Node.js. */
export function isNodeNew(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

/** What is wrong with a Node.js that is too old. */
export function oldNode(version: string): string {
  return `its Node.js is ${version}: install 20.19 or newer, or say "nodePath" in the inventory`;
}

function lastLineOf(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').at(-1) ?? '';
}
