import { type Command, Help, Option } from 'commander';

/** Widest line of a help, on a terminal and in a pipe. */
const WIDTH_MAX = 100;

/** Columns of a flag beside its explanation; a longer flag has the explanation on the next line. */
const TERM_WIDTH = 30;

interface FlagHelp extends Help {
  /** True for `--help-all`. Otherwise flags below a heading are hidden. */
  showsAll?: boolean;
}

const HELP: Partial<FlagHelp> = {
  padWidth: (command, helper) =>
    Math.min(TERM_WIDTH, Help.prototype.padWidth.call(helper, command, helper)),
  formatItem: (term, termWidth, description, helper) => {
    const { formatItem } = Help.prototype;
    const isWide = term.length > termWidth && description !== '';
    if (!isWide) return formatItem.call(helper, term, termWidth, description, helper);
    return `  ${term}\n${formatItem.call(helper, '', termWidth, description, helper)}`;
  },
  subcommandTerm: (command) => command.name(),
  // Choices that are already in the placeholder are not repeated.
  optionDescription(option) {
    const isListed = option.parseArg === undefined;
    const shown = isListed ? Object.create(option, { argChoices: { value: undefined } }) : option;
    return Help.prototype.optionDescription.call(this, shown);
  },
  visibleCommands(command) {
    const all = Help.prototype.visibleCommands.call(this, command);
    return all.filter((one) => one.name() !== 'help');
  },
  // Not in visibleOptions: commander compares a misspelled flag with those.
  groupItems<T extends Command | Option>(
    this: FlagHelp,
    all: T[],
    visible: T[],
    groupOf: (item: T) => string,
  ): Map<string, T[]> {
    const group = Help.prototype.groupItems.bind(this);
    const isMore = (item: T): boolean =>
      item instanceof Option && item.helpGroupHeading !== undefined;
    if (this.showsAll === true || !visible.some(isMore)) {
      return group(all, visible, groupOf);
    }
    const first: T[] = visible.filter((item) => !isMore(item));
    const rest = new Option('--help-all', `show all ${visible.length} flags, by topic`) as T;
    return group(first, [...first, rest], groupOf);
  },
};

/** Limits the width of a command's help and shows the flags that most people need. */
export function formatHelp(command: Command): Command {
  const width = (columns = WIDTH_MAX): number => Math.min(columns, WIDTH_MAX);
  return command
    .configureHelp(HELP)
    .configureOutput({
      getOutHelpWidth: () => width(process.stdout.columns),
      getErrHelpWidth: () => width(process.stderr.columns),
    })
    .helpOption('-h, --help', 'show this help');
}

/** Makes `--help` of a command, and of all below it, show every flag. */
export function showAllFlags(command: Command): void {
  const all: Partial<FlagHelp> = { ...HELP, showsAll: true };
  command.configureHelp(all);
  for (const below of command.commands) showAllFlags(below);
}

/** True after {@link showAllFlags} for the command. */
export function showsAllFlags(command: Command): boolean {
  const { showsAll }: Partial<FlagHelp> = command.configureHelp();
  return showsAll === true;
}
