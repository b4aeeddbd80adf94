import {
  ALL_CHECKERS,
  COMPLIANCE_SCRIPTS,
  OLDER_CHECKERS,
  type RuleTexts,
  SUBMISSION_RULES,
} from './rule-sources.ts';

/** Ids of {@link TREE_RULES}. */
export type TreeRuleId =
  | 'dry-run-lengths'
  | 'root-file'
  | 'root-folder'
  | 'division-file'
  | 'no-results'
  | 'submitter-empty'
  | 'file-too-large'
  | 'name-with-space'
  | 'name-with-dot'
  | 'name-not-plain'
  | 'python-cache'
  | 'empty-folder'
  | 'symlink'
  | 'symlink-to-folder'
  | 'no-plain-file'
  | 'missing-file'
  | 'missing-folder'
  | 'measurements-unused'
  | 'empty-file'
  | 'extra-file'
  | 'extra-run'
  | 'code-missing'
  | 'calibration-missing'
  | 'model-unknown'
  | 'model-mapping-wrong'
  | 'scenario-unknown'
  | 'scenario-missing'
  | 'scenario-not-in-division'
  | 'json-broken'
  | 'not-utf8'
  | 'power-unchecked';

/** Rules about files and folders. */
export const TREE_RULES: Readonly<Record<TreeRuleId, RuleTexts>> = {
  'dry-run-lengths': {
    severity: 'error',
    rule: 'A tree that was built from runs of other than official lengths is not handed in.',
    source: 'longhaul submission build --dry-run-lengths',
    advice:
      'Make the runs at the official lengths and build the tree again without --dry-run-lengths.',
  },
  'root-file': {
    severity: 'error',
    rule: 'Beside the divisions there are only .md and .pdf files.',
    source: OLDER_CHECKERS,
    advice: 'Move the file into a submitter folder, or out of the tree.',
  },
  'root-folder': {
    severity: 'warning',
    rule: 'The root has no other folders than closed, network and open.',
    source: `${ALL_CHECKERS}: they print an error and pass over the folder`,
    advice: 'Rename the folder (in lower case), or move it out of the tree.',
  },
  'division-file': {
    severity: 'error',
    rule: 'Between division and submitter there are no files.',
    source: OLDER_CHECKERS,
    advice: 'Move the file into the submitter folder.',
  },
  'no-results': {
    severity: 'error',
    rule: 'A tree has results.',
    source: `${SUBMISSION_RULES}; ${ALL_CHECKERS} pass over an empty tree without a word`,
    advice: 'Add results/<system>/<model>/<scenario>.',
  },
  'submitter-empty': {
    severity: 'warning',
    rule: 'The folder of a submitter has results.',
    source: `${ALL_CHECKERS} pass over it without a word`,
    advice: 'Add results/<system>/<model>/<scenario>, or take the folder out.',
  },
  'file-too-large': {
    severity: 'error',
    rule: 'No file is larger than 50 MiB.',
    source: OLDER_CHECKERS,
    advice:
      'Truncate logs (longhaul submission truncate); name the source of weights instead of adding them.',
  },
  'name-with-space': {
    severity: 'error',
    rule: 'No name has a space.',
    source: OLDER_CHECKERS,
    advice: 'Rename it; the official scripts pass paths to a shell without quotes.',
  },
  'name-with-dot': {
    severity: 'error',
    rule: 'No name begins with a dot.',
    source: OLDER_CHECKERS,
    advice: 'Remove or rename it.',
  },
  'name-not-plain': {
    severity: 'warning',
    rule: 'Names outside of the sources have no characters that mean something to a shell.',
    source: `${COMPLIANCE_SCRIPTS} hand paths to a shell without quotes`,
    advice: 'Use letters, digits, "-", "_", "+", "," and ".".',
  },
  'python-cache': {
    severity: 'error',
    rule: 'There is no __pycache__.',
    source: OLDER_CHECKERS,
    advice: 'Remove the folder.',
  },
  'empty-folder': {
    severity: 'error',
    rule: 'No folder is empty.',
    source: OLDER_CHECKERS,
    advice: 'Remove the folder, or put in what belongs there.',
  },
  symlink: {
    severity: 'error',
    rule: 'There are no symbolic links to files.',
    source: `${OLDER_CHECKERS} (good relative links are reported as broken, too)`,
    advice: 'Put a copy in its place.',
  },
  'symlink-to-folder': {
    severity: 'warning',
    rule: 'A folder is a folder, no symbolic link to one.',
    source: `${OLDER_CHECKERS} follow such a link; other tools and archives may not`,
    advice: 'Put a copy in its place.',
  },
  'no-plain-file': {
    severity: 'error',
    rule: 'Whatever is in the tree is a file or a folder, and can be read.',
    source: ALL_CHECKERS,
    advice: 'Give it permissions to be read, or take it out.',
  },
  'missing-file': {
    severity: 'error',
    rule: 'Every folder has the files that the official layout asks for.',
    source: ALL_CHECKERS,
    advice: 'Add the file.',
  },
  'missing-folder': {
    severity: 'error',
    rule: 'Every result has the folders that the official layout asks for.',
    source: ALL_CHECKERS,
    advice: 'Add the folder with its files.',
  },
  'measurements-unused': {
    severity: 'error',
    warningIn: ['v4.1', 'v5.0'],
    rule: 'Every system in measurements/ has results.',
    source: 'submission checker of v5.1',
    advice: 'Remove the folder, or add its results.',
  },
  'empty-file': {
    severity: 'error',
    rule: 'Required files are not empty.',
    source: ALL_CHECKERS,
    advice: 'Write the file.',
  },
  'extra-file': {
    severity: 'error',
    rule: 'Folders of logs have the files of the official list and no other.',
    source: OLDER_CHECKERS,
    advice: 'Move the file to documentation/, or remove it.',
  },
  'extra-run': {
    severity: 'warning',
    rule: 'Each scenario has one performance run, run_1.',
    source: `${SUBMISSION_RULES}, directory structure; ${ALL_CHECKERS} read run_1 only`,
    advice: 'Keep the run that counts as run_1 and remove the others.',
  },
  'code-missing': {
    severity: 'error',
    rule: 'The sources are in the tree: code/<model>/ (older layout), src/ (v6.0 and later).',
    source: ALL_CHECKERS,
    advice: 'Add the folder, or a text file of that name that names the folder of another model.',
  },
  'calibration-missing': {
    severity: 'error',
    rule: 'Closed and network submissions of v5.1 and later have a calibration.md.',
    source: 'submission_checker_old',
    advice: 'Write calibration.md or documentation/calibration.md, also if nothing was calibrated.',
  },
  'model-unknown': {
    severity: 'error',
    rule: 'A result lies in a folder with the name of a model of the round and suite; in open, model_mapping.json may say which one it stands for.',
    source: ALL_CHECKERS,
    advice:
      'Rename the folder; in open, name the model in model_mapping.json (build: reference_model).',
  },
  'model-mapping-wrong': {
    severity: 'error',
    rule: 'model_mapping.json of open names models of the round, as the official tools call them.',
    source: `${ALL_CHECKERS}: they refuse any other name, or break off at it`,
    advice: 'Write the name: {"my-net": "resnet"}, not "resnet50".',
  },
  'scenario-unknown': {
    severity: 'error',
    rule: 'In closed and network there are only scenarios that the model has in the suite.',
    source: ALL_CHECKERS,
    advice: 'Remove the scenario, or fix the name of the folder: Server, Offline.',
  },
  'scenario-missing': {
    severity: 'error',
    rule: 'In closed and network a model has all of its required scenarios.',
    source: ALL_CHECKERS,
    advice: 'Add the scenario; the official tools refuse the others of the model, too.',
  },
  'scenario-not-in-division': {
    severity: 'error',
    rule: 'The Network division knows the scenarios of the datacenter suite only.',
    source: 'inference_rules v4.1, Divisions, Network division',
    advice: 'Remove the scenario from network; it can go to open.',
  },
  'json-broken': {
    severity: 'error',
    rule: 'A .json file of the layout holds one JSON object.',
    source: ALL_CHECKERS,
    advice: 'Repair the file.',
  },
  'not-utf8': {
    severity: 'error',
    rule: 'What the official tools read is UTF-8.',
    source: `${ALL_CHECKERS} break off at other bytes`,
    advice: 'Write the file in UTF-8.',
  },
  'power-unchecked': {
    severity: 'notice',
    rule: 'Power measurements are left to the official power checker.',
    source: 'power_checker.py',
    advice: 'Run the official tools with the power folder.',
  },
};
