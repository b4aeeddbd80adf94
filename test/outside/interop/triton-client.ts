import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './python.ts';

/** A call of triton-client.py. */
export type TritonStep = { readonly call: string } & Readonly<Record<string, unknown>>;

/** Outcome of a call: its value, or the server's refusal. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of another program, of which each test knows its part.
export type TritonAnswer = { value?: any; error?: { status: string; message: string } };

/**
 * Runs steps of tritonclient against a server, one after another.
 * @param folder Of makeTritonClient.
 */
export async function tritonClient(
  folder: string,
  address: string,
  steps: readonly TritonStep[],
): Promise<readonly TritonAnswer[]> {
  const script = fileURLToPath(new URL('triton-client.py', import.meta.url));
  const child = spawn(PYTHON, [script, address], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
  child.stdin.end(JSON.stringify(steps));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`triton-client.py ended with ${code}: ${stdout}${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TritonAnswer);
}
