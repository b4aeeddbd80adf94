import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { validate } from 'dockerfile-utils';

/** An instruction of a Dockerfile, with continued lines joined. */
export interface Instruction {
  /** 1 is the first. */
  readonly line: number;
  /** In capitals. */
  readonly name: string;
  readonly text: string;
}

/** What a Dockerfile is held against. */
export interface BuildContext {
  /** Folder that is the context. */
  readonly root: string;
  /** Text of its `.dockerignore`. */
  readonly ignore: string;
}

/** Labels that an image of ours has, after `org.opencontainers.image.`. */
const LABELS = ['title', 'description', 'version', 'revision', 'source', 'licenses'];

/** Instructions in their order; comments and parser directives are none. */
export function instructionsOf(text: string): Instruction[] {
  const found: Instruction[] = [];
  let open: { line: number; parts: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    open ??= { line: index + 1, parts: [] };
    open.parts.push(line.replace(/\\$/, '').trim());
    if (line.endsWith('\\')) continue;
    const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(open.parts.join(' ')) ?? [];
    found.push({ line: open.line, name: name.toUpperCase(), text: rest });
    open = undefined;
  }
  return found;
}

/** Whether the builder gets a file: the last pattern that matches it, or a folder above it, decides. */
export function isSent(path: string, ignore: string): boolean {
  let isIgnored = false;
  for (const line of ignore.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const pattern = line.replace(/^!/, '');
    if (patternOf(pattern).test(path)) isIgnored = !line.startsWith('!');
  }
  return !isIgnored;
}

function patternOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*|\?/g, (wild) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[wild] ?? '[^/]');
  return new RegExp(`^${source}(?:/.*)?$`);
}

/**
 * Everything that is wrong with a Dockerfile of ours, as `LINE: what`.
 * @param role What the image is: `sut` has a health check.
 */
export function dockerfileFindings(
  text: string,
  role: 'sut' | 'loadgen',
  context: BuildContext,
): string[] {
  const all = instructionsOf(text);
  const last = all.slice(all.findLastIndex(({ name }) => name === 'FROM'));
  const named = (name: string): Instruction[] => last.filter((one) => one.name === name);
  const linted = validate(text).map(
    ({ range, message }) => `${range.start.line + 1}: ${message} (dockerfile-utils)`,
  );
  return [
    ...linted,
    ...baseFindings(all),
    ...all.flatMap((one) => stepFindings(one)),
    ...copyFindings(all, context),
    ...userFindings(named('USER').at(-1)),
    ...['ENTRYPOINT', 'CMD'].flatMap((name) => execFindings(name, named(name).at(-1))),
    ...lifeFindings(named, role),
    ...wordFindings(named),
  ];
}

/** Base images: build arguments with a full version, or stages. */
function baseFindings(all: readonly Instruction[]): string[] {
  const stages = new Set<string>();
  const defaults = new Map(
    all
      .slice(
        0,
        all.findIndex(({ name }) => name === 'FROM'),
      )
      .map(({ text, line }) => {
        const [name = '', value = ''] = text.split(/=(.*)/);
        return [name, { value, line }];
      }),
  );
  const found = [...defaults.values()]
    .filter(({ value }) => !/:[\w-]*\d+\.\d+[\w.-]*$|@sha256:[0-9a-f]{64}$/.test(value))
    .map(({ value, line }) => `${line}: ${value} is no full version of a base image`);
  for (const { text, line } of all.filter(({ name }) => name === 'FROM')) {
    const [, image = '', stage] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(text) ?? [];
    const argument = /^\$\{(\w+)\}$/.exec(image)?.[1];
    if (argument === undefined && !stages.has(image))
      found.push(`${line}: the base image ${image} is not a build argument`);
    if (argument !== undefined && !defaults.has(argument))
      found.push(`${line}: ${argument} has no default`);
    if (stage !== undefined) stages.add(stage);
  }
  return found;
}

function stepFindings({ name, text, line }: Instruction): string[] {
  const found: string[] = [];
  if (name === 'ADD') found.push(`${line}: ADD may fetch or unpack: COPY does neither`);
  if (name !== 'RUN') return found;
  if (/apt-get install/.test(text) && !/--no-install-recommends/.test(text))
    found.push(`${line}: apt-get install without --no-install-recommends`);
  if (/apt-get update/.test(text) && !/rm -rf \/var\/lib\/apt\/lists/.test(text))
    found.push(`${line}: apt's lists stay in the layer`);
  if (/\b(?:curl|wget)\b/.test(text)) found.push(`${line}: a download that no lock file names`);
  if (/npm (?:install|i)\b/.test(text)) found.push(`${line}: npm ci is what keeps the lock file`);
  return found;
}

function copyFindings(all: readonly Instruction[], { root, ignore }: BuildContext): string[] {
  const stages = all
    .filter(({ name }) => name === 'FROM')
    .map(({ text }) => text.split(/\s+AS\s+/i)[1]);
  return all
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text, line }) => {
      const words = text.split(/\s+/);
      const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
      if (from !== undefined)
        return stages.includes(from) ? [] : [`${line}: there is no stage ${from}`];
      const sources = words.filter((word) => !word.startsWith('--')).slice(0, -1);
      return sources.flatMap((source) => {
        const path = posix.normalize(source).replace(/\/$/, '');
        if (!existsSync(join(root, path))) return [`${line}: ${source} is not in the tree`];
        return path === '.' || isSent(path, ignore)
          ? []
          : [`${line}: .dockerignore shuts ${source} out`];
      });
    });
}

function userFindings(user: Instruction | undefined): string[] {
  const [uid = 0, gid = 0] = user?.text.split(':').map(Number) ?? [];
  if (uid > 0 && gid > 0) return [];
  return [`${user?.line ?? 'end'}: the last USER is not two numbers above 0`];
}

/** A shell in front would be process 1 and keep signals for itself. */
function execFindings(name: string, instruction: Instruction | undefined): string[] {
  if (instruction === undefined) return [`end: there is no ${name}`];
  const { text, line } = instruction;
  const words = wordsOf(text);
  if (words === undefined) return [`${line}: ${name} is not in its exec form`];
  const isInit = name !== 'ENTRYPOINT' || words[0]?.endsWith('/tini') === true;
  return isInit ? [] : [`${line}: no init stands before the program`];
}

function wordsOf(text: string): string[] | undefined {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) ? words.map(String) : undefined;
  } catch {
    return undefined;
  }
}

function lifeFindings(named: (name: string) => Instruction[], role: 'sut' | 'loadgen'): string[] {
  const health = named('HEALTHCHECK').at(-1)?.text ?? '';
  const found: string[] = [];
  const command = /^(?:--\S+ )+CMD (\[.*\])$/.exec(health)?.[1];
  if (role === 'sut' && (command === undefined || wordsOf(command) === undefined))
    found.push('end: HEALTHCHECK is not --options CMD ["program", ...]');
  if (role === 'loadgen' && health !== 'NONE') found.push('end: HEALTHCHECK is not NONE');
  if (named('STOPSIGNAL').at(-1)?.text !== 'SIGTERM') found.push('end: STOPSIGNAL is not SIGTERM');
  const ports = named('EXPOSE').flatMap(({ text }) => text.split(' '));
  for (const port of role === 'sut' ? ['50051', '50052', '9464'] : ['9465', '8080'])
    if (!ports.includes(port)) found.push(`end: EXPOSE does not name ${port}`);
  return found;
}

function wordFindings(named: (name: string) => Instruction[]): string[] {
  const environment = named('ENV').map(({ text }) => text.split(' '));
  const labels = named('LABEL')
    .map(({ text }) => text)
    .join(' ');
  return [
    ...['ORT_DISABLE_TELEMETRY=1', 'XDG_CACHE_HOME=/var/cache', 'NODE_ENV=production']
      .filter((setting) => !environment.flat().includes(setting))
      .map((setting) => `end: ENV does not say ${setting}`),
    ...LABELS.filter((key) => !labels.includes(`org.opencontainers.image.${key}="`)).map(
      (key) => `end: the label ${key} is missing`,
    ),
  ];
}

/** Paths that a build from a clone needs: what package.json packs, and the projects that the compiler builds. */
export function buildNeeds(root: string): string[] {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const { files } = read('package.json') as { files: string[] };
  const { references } = read('tsconfig.json') as { references: { path: string }[] };
  const packed = files
    .filter((file) => !/^!|^dist\//.test(file))
    // A pattern's folder, up to its first wildcard.
    .map((file) => (/[*{]/.test(file) ? posix.dirname(`${file.split(/[*{]/)[0]}x`) : file));
  const projects = references
    .map(({ path }) => posix.normalize(path))
    .filter((path) => path.split('/')[0] !== 'test');
  return [
    ...new Set([...packed, ...projects, 'package-lock.json', '.npmrc', 'tsconfig.json', 'LICENSE']),
  ];
}
