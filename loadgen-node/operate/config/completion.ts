import type { Command, Option } from 'commander';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { BENCHMARK_KEYS, RUN_BENCHMARKS } from '../../../shared/rules/benchmark-rules.ts';

/** Shells with a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

interface Word {
  readonly name: string;
  readonly about: string;
}

interface Flag extends Word {
  readonly takesValue: boolean;
  /** Allowed values; empty: any, such as a file. */
  readonly values: readonly string[];
}

/** Words that can follow a verb or subverb. */
interface Place {
  /** ` probe name`; empty: the program itself. */
  readonly path: string;
  readonly verbs: readonly Word[];
  readonly flags: readonly Flag[];
  /** True if a file or a folder can follow. */
  readonly takesPath: boolean;
}

/**
 * Completion script for a program's verbs, flags and values.
 * @throws MlperfError `ERR_CONFIG_INVALID` for another shell
 */
export function completionScript(program: Command, shell: string): string {
  const known = SHELLS.find((one) => one === shell);
  if (known === undefined) {
    throw configInvalid(`shell "${shell}" must be one of: ${SHELLS.join(', ')}`);
  }
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[known](placesOf(program, ''));
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  // `sut` and `config init` accept every benchmark, runs only RUN_BENCHMARKS.
  const benchmarks = / (sut|init)$/.test(path) ? BENCHMARK_KEYS : RUN_BENCHMARKS;
  const place: Place = {
    path,
    verbs: below.map((one) => ({ name: one.name(), about: one.description() })),
    flags: help.visibleOptions(command).flatMap((option) => flagOf(option, benchmarks)),
    takesPath: command.registeredArguments.some((argument) => argument.name() !== 'address'),
  };
  return [place, ...below.flatMap((one) => placesOf(one, `${path} ${one.name()}`))];
}

function flagOf(
  { long, description, required, optional, argChoices }: Option,
  benchmarks: readonly string[],
): Flag[] {
  if (long === undefined || long === null) return [];
  const flag: Flag = {
    name: long,
    about: description,
    takesValue: required || optional,
    values: argChoices ?? (long === '--benchmark' ? benchmarks : []),
  };
  const all = { name: '--help-all', about: 'show all flags', takesValue: false, values: [] };
  return long === '--help' ? [flag, all] : [flag];
}

const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Pattern of a shell `case` that matches any of the texts. */
const anyOf = (texts: readonly string[]): string => texts.map(inQuotes).join('|');

/** Lines of a `case` on verb and flag: what to do with the values of each flag. */
function valueCases(places: readonly Place[], doWith: (values: readonly string[]) => string) {
  return places.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values }) => `    ${inQuotes(`${path} ${name}`)}) ${doWith(values)} ;;`),
  );
}

/** Lines of a `case` on the verb that set what can follow it. (`path` is PATH in zsh.) */
function placeCases(places: readonly Place[], wordOf: (word: Word) => string): string[] {
  return places.map(({ path, verbs, flags, takesPath }) => {
    const list = (words: readonly Word[]): string => words.map(wordOf).join(' ');
    const parts = [
      `verbs=(${list(verbs)})`,
      `flags=(${list(flags)})`,
      `files=${takesPath ? 1 : 0}`,
    ];
    return `    ${inQuotes(path)}) ${parts.join(' ')} ;;`;
  });
}

const pathsOf = (places: readonly Place[]): string[] =>
  places.flatMap(({ path }) => (path === '' ? [] : [path]));

function bashScript(places: readonly Place[]): string {
  const values = valueCases(places, (words) => `words=(${words.map(inQuotes).join(' ')}) value=1`);
  return `# Completion of longhaul for bash: source <(longhaul config completion bash)
_longhaul() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at='' files=0 value=0 i
  local -a verbs=() flags=() words=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${anyOf(pathsOf(places))}) at+=" \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('\n')}
  esac
  case "$at" in
${placeCases(places, ({ name }) => inQuotes(name)).join('\n')}
  esac
  if ((value == 0)); then
    words=("\${verbs[@]}")
    if [[ $cur == -* ]] || ((\${#verbs[@]} + files == 0)); then words+=("\${flags[@]}"); fi
  fi
  COMPREPLY=($(compgen -W "\${words[*]}" -- "$cur"))
}
complete -o default -F _longhaul longhaul
`;
}

function zshScript(places: readonly Place[]): string {
  const described = ({ name, about }: Word): string =>
    inQuotes(`${name}:${about.replaceAll(':', '\\:')}`);
  const values = valueCases(places, (words) =>
    words.length === 0 ? '_files; return' : `compadd -- ${words.map(inQuotes).join(' ')}; return`,
  );
  return `#compdef longhaul
# Completion of longhaul for zsh: source <(longhaul config completion zsh)
_longhaul() {
  local at='' files=0 i
  local -a verbs flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      ${anyOf(pathsOf(places))}) at+=" $words[i]" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${values.join('\n')}
  esac
  case "$at" in
${placeCases(places, described).join('\n')}
  esac
  if [[ $PREFIX == -* ]] || (( $#verbs + files == 0 )); then
    _describe flag flags
  elif (( $#verbs )); then
    _describe verb verbs
  fi
  (( files )) && _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _longhaul longhaul
`;
}

function fishScript(places: readonly Place[]): string {
  const quoted = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, verbs, flags, takesPath }) => {
    const at = `complete -c longhaul -n ${quoted(`__longhaul_at ${quoted(path)}`)}`;
    return [
      ...(takesPath ? [] : [`${at} -f`]),
      ...verbs.map(({ name, about }) => `${at} -a ${name} -d ${quoted(about)}`),
      ...flags.map(({ name, about, takesValue, values }) => {
        const more = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : ' -r -F';
        return `${at} -l ${name.slice(2)}${takesValue ? more : ''} -d ${quoted(about)}`;
      }),
    ];
  });
  return `# Completion of longhaul for fish: longhaul config completion fish | source
function __longhaul_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${pathsOf(places).map(quoted).join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}
