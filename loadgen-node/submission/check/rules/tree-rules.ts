import { posix } from 'node:path';
import { isNetworkDivisionScenario } from '../../../../shared/domain/scenario.ts';
import type { SubmissionScenario } from '../../../../shared/rules/rows/model-row.ts';
import { modelOfFolder, modelOfName, onlySuiteOf } from '../../rules/models-of-rounds.ts';
import { SUBMISSION_DIVISIONS, SUBMISSION_ROUNDS } from '../../rules/submission-rounds.ts';
import { DRY_RUN_FILE, DRY_RUN_WORDS, TREE_FILE_BYTES_MAX } from '../../tree/tree-layout.ts';
import { isBlank, textOf } from '../read/description-values.ts';
import { readToolText } from '../read/read-document.ts';
import { type Answer, isStrict, type ModelSite, type ResultSite } from '../read/sites.ts';
import { implementationOf } from '../result/measurements.ts';
import {
  inferenceRules,
  main,
  type RuleTable,
  STRICT,
  submissionRules,
  tag,
  tagLog,
} from './rule.ts';

const DIVISIONS: readonly string[] = SUBMISSION_DIVISIONS;

/** The divisions, and folders that the official tools ignore in the root. */
const ROOT_FOLDERS: readonly string[] = [...DIVISIONS, '.git', '.github', 'assets'];

/** Characters with a special meaning in a shell. */
const SHELL_CHARACTERS = /[;&|<>()$`"'\\*?[\]{}!#~\n\r\t]/;

/** Rounds whose rules require calibration.md. */
const WITH_CALIBRATION = SUBMISSION_ROUNDS.slice(SUBMISSION_ROUNDS.indexOf('v5.1'));

/** Rules about files and folders. */
export const TREE_RULES = {
  'dry-run-lengths': {
    by: [inferenceRules('Scenarios')],
    rule: 'The tree was built without --dry-run-lengths.',
    advice:
      'Make the runs at the official lengths and build the tree again without --dry-run-lengths.',
    path: ({ file }) =>
      file === DRY_RUN_FILE && `${DRY_RUN_FILE} says that the runs are shorter than official.`,
    // The mark is in each result's README as well as in the root.
    readmeLine: ({ text }) =>
      text.startsWith(`> **${DRY_RUN_WORDS}`) && 'It is of a tree of shortened runs.',
  },
  'root-file': {
    by: [tag('check_results_dir', { since: 3.1 })],
    rule: 'The root has only .md and .pdf files beside the divisions.',
    advice: 'Move the file into a submitter folder, or out of the tree.',
    path: ({ file, folder, isFolder }) =>
      folder === '.' && !isFolder && !/\.(md|pdf)$/.test(file) && `${file} lies in the root.`,
  },
  'root-folder': {
    by: [],
    rule: 'The root has only the folders closed, network and open.',
    because: 'check_results_dir of the tags prints an error and passes over the folder',
    advice: 'Rename the folder (in lower case), or move it out of the tree.',
    path: ({ file, folder, isFolder }) =>
      folder === '.' && isFolder && !ROOT_FOLDERS.includes(file) && `"${file}" is no division.`,
  },
  'division-file': {
    by: [tag('check_results_dir', { since: 3.1 })],
    rule: 'A division folder has no files, only submitter folders.',
    advice: 'Move the file into the submitter folder.',
    path: ({ folder, isFolder }) =>
      !isFolder && DIVISIONS.includes(folder) && `It lies in ${folder}/ itself.`,
  },
  'no-results': {
    by: [submissionRules('Inference')],
    rule: 'A tree has results.',
    advice: 'Add results/<system>/<model>/<scenario>.',
  },
  'round-not-known': {
    severity: 'warning',
    by: [],
    rule: 'The round of the logs is one that longhaul knows.',
    because: 'the seeds of other rounds are not known, nor are their counts and targets',
    advice: "Take the official check of the logs' round; what is below is by another one.",
    tree: ({ otherRound, round }) =>
      otherRound !== undefined &&
      `The logs are of round ${otherRound}; they are judged by ${round}, without its seeds.`,
  },
  'submitter-empty': {
    by: [],
    rule: 'The folder of a submitter has results.',
    because: 'the official checks pass over it without a word',
    advice: 'Add results/<system>/<model>/<scenario>, or take the folder out.',
  },
  'file-too-large': {
    by: [tag('check_results_dir', { since: 3.0 })],
    rule: 'No file is larger than 50 MiB.',
    advice:
      'Truncate logs (longhaul submission truncate); name the source of weights instead of adding them.',
    path: ({ bytes }) =>
      bytes > TREE_FILE_BYTES_MAX && `It has ${bytes} bytes; ${TREE_FILE_BYTES_MAX} are allowed.`,
  },
  'name-with-space': {
    by: [tag('check_results_dir', { since: 3.0 })],
    rule: 'No name has a space.',
    advice: 'Rename it; the official scripts pass paths to a shell without quotes.',
    path: ({ name, isOfDivision }) =>
      isOfDivision && name.includes(' ') && `"${name}" has a space.`,
  },
  'name-with-dot': {
    by: [tag('check_results_dir', { since: 3.0 })],
    rule: 'No name begins with a dot.',
    advice: 'Remove or rename it.',
    path: ({ name, isOfDivision }) =>
      isOfDivision && name.startsWith('.') && `"${name}" begins with a dot.`,
  },
  'name-not-plain': {
    by: [],
    rule: 'Names outside the sources have no shell characters.',
    because: 'run_verification.py of the compliance tests hands paths to a shell without quotes',
    advice: 'Use letters, digits, "-", "_", "+", "," and ".".',
    path: ({ file, name, isOfDivision }) => {
      const odd = SHELL_CHARACTERS.exec(name)?.[0];
      // No script is called with the paths of sources.
      const isOfSources = ['code', 'src'].includes(file.split('/')[2] ?? '');
      const isOdd = isOfDivision && odd !== undefined && !isOfSources;
      return isOdd && `The name has ${JSON.stringify(odd)}.`;
    },
  },
  'python-cache': {
    by: [tag('check_results_dir', { since: 3.0 })],
    rule: 'The tree has no __pycache__.',
    advice: 'Remove the folder.',
    path: ({ name, isFolder, isOfDivision }) =>
      isOfDivision && isFolder && name === '__pycache__' && 'It is a cache of Python.',
  },
  'empty-folder': {
    by: [tag('check_results_dir', { since: 3.0 })],
    rule: 'No folder is empty.',
    advice: 'Remove the folder, or put in what belongs there.',
    path: ({ file, isFolder, isOfDivision, listing }) =>
      isOfDivision && isFolder && listing.isEmpty(file) && 'The folder is empty.',
  },
  symlink: {
    by: [tag('check_results_dir', { since: 3.0 })],
    rule: 'No file is a symbolic link.',
    because: 'other tools and archives may not follow it',
    advice: 'Put a copy in its place.',
    tree: ({ listing }) => listing.odd('symlink'),
  },
  'symlink-to-folder': {
    by: [],
    rule: 'No folder is a symbolic link.',
    because: 'the official checks follow such a link; other tools and archives may not',
    advice: 'Put a copy in its place.',
    tree: ({ listing }) => listing.odd('symlink-to-folder'),
  },
  'no-plain-file': {
    by: [submissionRules('How to Submit')],
    rule: 'Every entry is a readable file or folder.',
    advice: 'Give it permissions to be read, or take it out.',
    tree: ({ listing }) => listing.odd('special', 'unreadable'),
  },
  'missing-file': {
    by: [
      submissionRules('Inference'),
      tag('check_results_dir'),
      main('PerformanceCheck.missing_check'),
      main('MeasurementsCheck.required_files_check'),
    ],
    rule: 'Every folder has the files of the official layout.',
    advice: 'Add the file.',
  },
  'missing-folder': {
    by: [
      submissionRules('Inference'),
      tag('check_results_dir'),
      main('PerformanceCheck.missing_check'),
    ],
    rule: 'Every result has the folders of the official layout.',
    advice: 'Add the folder with its files.',
  },
  'measurements-unused': {
    by: [tag('check_results_dir', { since: 5.1 })],
    rule: 'Every system in measurements/ has results.',
    because: 'reviewers ask for its results',
    advice: 'Remove the folder, or add its results.',
    submitter: ({ listing, layout, file, systems }) => {
      // The flat layout has none.
      const folder = posix.join(file, 'measurements');
      const names = layout.isFlat ? [] : listing.entries(folder).folders;
      return names.map((name) => !systems.includes(name) && unused(posix.join(folder, name)));
    },
  },
  'empty-file': {
    by: [
      tag('check_measurement_dir', { since: 3.1 }),
      main('MeasurementsCheck.required_files_check'),
    ],
    rule: 'Required files are not empty.',
    advice: 'Write the file.',
  },
  'extra-file': {
    // Earlier checks printed an error and accepted the result.
    by: [tag('check_results_dir', { since: 3.1 })],
    rule: 'Log folders have only files of the official list.',
    because: 'submission_rules lists the files that belong there',
    advice: 'Move the file to documentation/, or remove it.',
  },
  'extra-run': {
    by: [],
    rule: 'Each scenario has one performance run, run_1.',
    because: 'submission_rules has run_1 only, and the official checks read no other',
    advice: 'Keep the run that counts as run_1 and remove the others.',
    result: (site) =>
      besideRun(site, (name) => !runNames(site).includes(name)).map(({ file, name }) => ({
        file,
        text: `${name} lies beside run_1.`,
      })),
  },
  'code-missing': {
    by: [
      tag('check_measurement_dir', { since: 3.1 }),
      main('MeasurementsCheck.directory_exist_check'),
    ],
    rule: 'The sources are in the tree: code/<model>/ (older layout), src/ (v6.0 and later).',
    advice: 'Add the folder, or a text file of that name that names the folder of another model.',
    measurements: checkCode,
  },
  'calibration-missing': {
    by: [tag('check_results_dir', { since: 5.1, divisions: STRICT })],
    only: { rounds: WITH_CALIBRATION, divisions: STRICT },
    rule: 'Closed and network submissions of v5.1 and later have a calibration.md.',
    because: 'reviewers ask how the model was calibrated',
    advice: 'Write calibration.md or documentation/calibration.md, also without a calibration.',
    submitter: (site) => {
      const paths = ['calibration.md', 'documentation/calibration.md'];
      const isThere = paths.some((path) => site.listing.hasFile(posix.join(site.file, path)));
      return !isThere && `There is none of ${paths.join(', ')}.`;
    },
  },
  'model-unknown': {
    by: [tag('check_results_dir'), main('Config.get_performance_sample_count')],
    rule: 'The model folder has the name of a model of the round and suite; in open, model_mapping.json may map it to one.',
    advice:
      'Rename the folder. In open, you may map its name to a model of the round in model_mapping.json; submission build does so for a result with reference_model.',
    // Open may have its own models, but every official tool asks for the round's model that they
    // replace.
    model: ({ model, modelFolder, need, round, description }) => {
      if (need !== undefined) return false;
      if (model === undefined) return `"${modelFolder}" is no model of round ${round}.`;
      const suite = onlySuiteOf(model);
      const type = textOf(description?.['system_type']);
      return suite === undefined || isBlank(type)
        ? `"${modelFolder}" is no model of the suite of the system.`
        : `"${modelFolder}" is of the ${suite} suite alone in ${round}, and the system of "${type}".`;
    },
  },
  'model-mapping-wrong': {
    by: [tag('Config.get_mlperf_model'), main('Config.get_mlperf_model')],
    rule: 'model_mapping.json maps to models of the round, by their official names.',
    advice: 'Write the name: {"my-net": "resnet"}, not "resnet50".',
    submitter: ({ mapping, round, file }) =>
      Object.entries(mapping ?? {}).map(([folder, name]) => {
        const isName = typeof name === 'string';
        if (isName && modelOfName(round, name) !== undefined) return false;
        const right = isName ? modelOfFolder(round, name)?.name : undefined;
        const hint = right === undefined ? '' : `: the official tools call it "${right}"`;
        return {
          file: posix.join(file, 'model_mapping.json'),
          text: `"${folder}" stands for ${JSON.stringify(name)}, which is no name of a model of ${round}${hint}.`,
        };
      }),
  },
  'scenario-unknown': {
    by: [tag('check_results_dir'), main('PerformanceCheck.scenarios_check')],
    rule: 'Closed and network have only scenarios that the suite has for the model.',
    advice: 'Remove the scenario, or fix the name of the folder: Server, Offline.',
    model: (site) =>
      [...site.scenarios].map(([name, scenario]) => {
        const file = posix.join(site.file, name);
        if (scenario === undefined) return { file, text: `"${name}" is no scenario.` };
        const isOdd =
          isStrict(site) &&
          site.need !== undefined &&
          !isNeeded(site, scenario) &&
          !isOfEdge(site, scenario);
        return isOdd && { file, text: `The model has no ${scenario} in the suite.` };
      }),
  },
  'scenario-missing': {
    by: [tag('check_results_dir'), main('PerformanceCheck.scenarios_check')],
    rule: 'Closed and network have all required scenarios of the model.',
    advice: 'Add the scenario; the official tools refuse the others of the model, too.',
    model: (site) => {
      if (!isStrict(site) || site.need === undefined) return false;
      const { required, oneOf } = site.need;
      const isThere = (scenario: SubmissionScenario) =>
        [...site.scenarios.values()].includes(scenario);
      return [
        ...required.map((scenario) => !isThere(scenario) && `${scenario} is missing.`),
        oneOf.length > 0 && !oneOf.some(isThere) && `One of ${oneOf.join(', ')} is missing.`,
      ];
    },
  },
  'scenario-not-in-division': {
    by: [inferenceRules('Network Division')],
    rule: 'The Network division has only scenarios of the datacenter suite.',
    advice: 'Remove the scenario from network; it can go to open.',
    model: (site) =>
      [...site.scenarios].map(
        ([name, scenario]) =>
          scenario !== undefined &&
          isOfEdge(site, scenario) && {
            file: posix.join(site.file, name),
            text: `${scenario} is of the edge suite.`,
          },
      ),
  },
  'json-broken': {
    by: [tag('check_results_dir'), main('Loader.load_single_log')],
    rule: 'A .json file of the layout has one JSON object.',
    advice: 'Repair the file.',
  },
  'not-utf8': {
    by: [tag('check_accuracy_dir'), tagLog('MLPerfLog.__init__'), main('LoadgenParser.__init__')],
    rule: 'Files that the official tools read are UTF-8.',
    advice: 'Write the file in UTF-8.',
  },
  'power-unchecked': {
    severity: 'note',
    by: [],
    rule: 'Power measurements are not checked; the official power checker does that.',
    because: 'power_checker.py checks them',
    advice: 'Run the official tools with the power folder.',
    result: (site) =>
      besideRun(site, (name) => name === 'power').map(({ file }) => ({
        file,
        text: 'Power was measured.',
      })),
  },
} as const satisfies RuleTable;

/** A finding about a folder or file of a system without results. */
export function unused(file: string) {
  return { file, text: 'No results are of this system.' };
}

/** Folders allowed beside each other in performance/. */
function runNames({ round, scenario }: ResultSite): readonly string[] {
  if (round !== 'v0.5') return ['run_1', 'ranging', 'power'];
  return scenario === 'Server' ? ['run_1', 'run_2', 'run_3', 'run_4', 'run_5'] : ['run_1'];
}

/** A result's performance/run_1, and the folders beside it. */
function besideRun({ layout, listing, place }: ResultSite, isMeant: (name: string) => boolean) {
  const folder = posix.dirname(layout.performance(place));
  const names = listing.entries(folder).folders.filter(isMeant);
  return names.map((name) => ({ name, file: posix.join(folder, name) }));
}

function isNeeded({ need }: ModelSite, scenario: SubmissionScenario): boolean {
  return [...(need?.required ?? []), ...(need?.oneOf ?? [])].includes(scenario);
}

/** True for a network result's scenario that the Network division lacks. */
function isOfEdge(site: ModelSite, scenario: SubmissionScenario): boolean {
  const isOfDatacenter = scenario === 'Interactive' || isNetworkDivisionScenario(scenario);
  return site.division === 'network' && !isOfDatacenter && !isNeeded(site, scenario);
}

function checkCode(site: ResultSite): Answer {
  const { layout, listing, division, submitter, modelFolder } = site;
  const code = layout.code(division, submitter);
  const file = layout.isFlat ? code : posix.join(code, modelFolder);
  // In the older layout a file with the model's name contains the name of another model's folder.
  const isFile = !layout.isFlat && listing.hasFile(file);
  const named = isFile ? readToolText(site, file)?.trim() : undefined;
  const folder = named === undefined ? file : posix.join(code, named);
  // v0.5's check looks for the implementation's folder, by the measurements file's name.
  if (site.round === 'v0.5') {
    const own = posix.join(file, implementationOf(site) ?? '');
    return !listing.leadsToFolder(own) && { file: own, text: 'There is no such folder.' };
  }
  if (listing.leadsToFolder(folder)) return undefined;
  const text =
    named === undefined ? 'There is no such folder.' : `It names ${folder}, which is not there.`;
  return { file, text };
}
