import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Clone of mlcommons/inference with its tags; undefined: the tests skip, and say why. */
const INFERENCE_CLONE: string | undefined = process.env['MLPERF_INFERENCE'];

/** Python 3 with numpy and PyYAML. */
const PYTHON = process.env['PYTHON'] ?? 'python3';

/** Why the tests cannot run here; undefined: they can. */
export function obstacle(): string | undefined {
  if (INFERENCE_CLONE === undefined) {
    return 'MLPERF_INFERENCE is not set to a clone of mlcommons/inference with its tags';
  }
  const { status } = spawnSync(PYTHON, ['-c', 'import numpy, yaml']);
  return status === 0 ? undefined : `${PYTHON} lacks numpy or yaml (PYTHON names another one)`;
}

/** What a tool did. */
export interface ToolRun {
  readonly code: number | null;
  /** Of both streams. */
  readonly output: string;
}

/** The official tools of one tag (or branch), taken out of the clone. */
export class OfficialTools {
  readonly #folder: string;

  /** @param folder Empty; gets the files. */
  constructor(tag: string, folder: string, paths: readonly string[]) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    const clone = INFERENCE_CLONE as string;
    const archive = execFileSync('git', ['-C', clone, 'archive', tag, ...paths], {
      maxBuffer: 2 ** 28,
    });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
  }

  /** Runs a script. The tools write into the working directory and call `python3` by name. */
  run(script: string, args: readonly string[], cwd: string): ToolRun {
    mkdirSync(cwd, { recursive: true });
    const { status, stdout, stderr } = spawnSync(PYTHON, [join(this.#folder, script), ...args], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, PATH: path(), PYTHONDONTWRITEBYTECODE: '1' },
      maxBuffer: 2 ** 28,
    });
    return { code: status, output: `${stdout}${stderr}` };
  }
}

/** Scripts of earlier rounds start `python3` by name: it has to be the same Python. */
function path(): string {
  const own = PYTHON.includes('/') ? [dirname(PYTHON)] : [];
  return [...own, process.env['PATH'] ?? ''].join(delimiter);
}
