import { AGENT_FAILED, AgentError, tell } from './agent-basics.ts';
import { tellFacts } from './agent-facts.ts';
import { startNodes, stopNodes } from './agent-nodes.ts';
import { install, putFile, remove } from './agent-package.ts';
import { executeCommand, listFiles, sendFiles } from './agent-run.ts';
import type { AgentRequest } from './agent-words.ts';

const OF_SYSTEM: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
};

/**
 * The remote half of `longhaul remote`: sent over the connection and run there by nothing but Node.js, once per request. It
 * imports modules of Node and of its own folder only (hosts/agent-source.ts).
 * @param text The request as JSON. What follows on stdin are words of the controller, or a file.
 */
export async function main(text: string): Promise<void> {
  // Who reads may be gone: what was started is ended all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('SIGHUP', () => {});
  const request = JSON.parse(text) as AgentRequest;
  try {
    await answer(request);
  } catch (error) {
    const message = messageOf(error);
    // Where stdout is a command's own, or an archive, it is no place for words of the agent.
    const isStdoutTaken = request.verb === 'exec' || request.verb === 'fetch';
    if (isStdoutTaken) process.stderr.write(`longhaul-agent: ${message}\n`);
    else tell({ event: 'error', message });
    process.exitCode = AGENT_FAILED;
  }
  process.stdout.write('', () => process.exit());
}

async function answer(request: AgentRequest): Promise<void> {
  switch (request.verb) {
    case 'facts':
      return tellFacts(request);
    case 'put':
      return putFile(request);
    case 'install':
      return install(request);
    case 'start':
      return startNodes(request);
    case 'stop':
      return stopNodes(request);
    case 'exec':
      return executeCommand(request);
    case 'list':
      return listFiles(request);
    case 'fetch':
      return sendFiles(request);
    case 'remove':
      return remove(request);
    default:
      throw new AgentError('unknown request');
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = error as { code?: string; path?: string };
  const said = code === undefined ? undefined : OF_SYSTEM[code];
  return said === undefined ? error.message : `${said}${path === undefined ? '' : `: ${path}`}`;
}
