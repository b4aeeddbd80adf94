import { choice, pick, text, toggle } from '../../shared/config/setting.ts';
import { RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import { CommandHost } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { TOKEN_TYPES } from '../samples/data-set/token-numbers.ts';
import { scoreLog } from '../submission/score-log.ts';
import { verb } from './verb.ts';

/** `longhaul accuracy`: scores a log as the benchmark's official accuracy script does. */
export const accuracyVerb = verb({
  takes: { '<log>': `${RUN_FILES.accuracy}, or a folder that has it` },
  settings: {
    benchmark: text(
      'name',
      'benchmark of the run (default: from longhaul_run.yaml beside the log)',
    ),
    ...pick(RUN_SETTINGS, 'dataDir', 'dataSeed', 'dataCount', 'round'),
    tokenType: choice(TOKEN_TYPES, 'language models: type of a token in the log (default: int32)'),
    partial: toggle('score a log with only a part of the data set, such as that of TEST01'),
    output: text('file', 'file to write the text to (default: stdout)'),
    cacheDir: RUN_SETTINGS.cacheDir,
  },
  example: `
Examples:
  longhaul accuracy results/acc --output results/acc/accuracy.txt
  longhaul accuracy TEST01/accuracy/mlperf_log_accuracy.json --partial --benchmark resnet50 \\
    --data-dir imagenet

The data set has to be that of the run. Where longhaul_run.yaml lies beside the log, benchmark,
round and data set are those that it has, and flags win over it (start where that run was started:
relative paths count from there). Elsewhere say --benchmark, and --data-dir, --data-seed and
--data-count as the run did. Where longhaul's detail log lies there, another data set is refused.
The log may be of longhaul or of the C++ LoadGen, in LoadGen's form or as any other JSON. What is
written is the line that the benchmark's official script prints of the same log, and below it notes
where the data set is a stand-in.
A log that was truncated for a submission cannot be scored: take the original.

Exit codes: 0 scored and the target is met (or --partial: no target is looked at), 3 the target is
missed or samples are missing, 2 wrong flag, 5 data set missing or a response that is no answer,
6 log missing or damaged.`,
  action: ({ values }, log: string) => scoreLog(log, values, new CommandHost()),
});
