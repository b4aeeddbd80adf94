import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../../../shared/base/files/package-files.ts';

/** A relative import in a compiled module. */
const RELATIVE_IMPORT = /(from\s*")(\.\/[^"]+)(")|(from\s*')(\.\/[^']+)(')/g;

let source: Buffer | undefined;

/**
 * The agent as one module without relative imports: each module that it imports stands in it as a data URL. A host needs nothing
 * but Node.js for it, and keeps nothing of it.
 */
function agentSource(): Buffer {
  source ??= Buffer.from(
    withInlinedImports(fileURLToPath(compiledModule('loadgen-node/operate/remote/agent/agent.js'))),
  );
  return source;
}

function withInlinedImports(path: string): string {
  const text = readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
  return text.replace(RELATIVE_IMPORT, (_, from1, path1, to1, from2, path2, to2) => {
    const inner = withInlinedImports(join(dirname(path), String(path1 ?? path2)));
    const url = `data:text/javascript;base64,${Buffer.from(inner).toString('base64')}`;
    return `${from1 ?? from2}${url}${to1 ?? to2}`;
  });
}

/** First thing that an agent writes, with the version of its Node.js: what comes before is a login shell's. */
export const GREETING: RegExp = /(?:^|\n)longhaul-agent (\d+\.\d+\.\d+)\n/;

/**
 * What a host is asked to run, always the same: no value of an inventory, no path but node's and nothing secret stands on a
 * command line. It reads the agent and the request from stdin and leaves what follows there. In single quotes of any shell.
 */
const LOADER = [
  'const s=process.stdin;let b=Buffer.alloc(0);',
  'const f=(d)=>{b=Buffer.concat([b,d]);if(b.length>=20)g()};',
  'const g=()=>{const a=20+Number(b.subarray(0,10)),r=a+Number(b.subarray(10,20));',
  'if(r>b.length)return;',
  's.off("data",f);s.off("end",q);s.pause();if(b.length>r)s.unshift(b.subarray(r));',
  'const u="data:text/javascript;base64,"+b.subarray(20,a).toString("base64");',
  'const t=b.subarray(a,r).toString();',
  'process.stdout.write(String.fromCharCode(10)+"longhaul-agent "+process.versions.node+String.fromCharCode(10),',
  '()=>import(u).then((m)=>m.main(t)))};',
  'const q=()=>process.exit(253);',
  's.on("data",f);s.on("end",q)',
].join('');

/** The command line for a host's login shell. @param nodePath Program; `~/` is the home folder. */
export function loaderCommand(nodePath: string): string {
  return `exec ${shellWord(nodePath)} -e '${LOADER}'`;
}

/** A word for a shell, whatever it holds; `~/` at its begin stays the home folder. */
export function shellWord(text: string): string {
  if (text.startsWith('~/')) return `"$HOME"/${shellWord(text.slice(2))}`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What goes to a loader before the words of a controller or a file. */
export function openingOf(request: object): Buffer {
  const agent = agentSource();
  const text = Buffer.from(JSON.stringify(request));
  const lengths = [agent, text].map(({ length }) => String(length).padStart(10, '0')).join('');
  return Buffer.concat([Buffer.from(lengths), agent, text]);
}
