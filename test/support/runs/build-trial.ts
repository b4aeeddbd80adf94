import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  type BuiltTree,
  buildSubmission,
} from '../../../loadgen-node/submission/assemble/build-submission.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import type { Scene, SceneSubmission } from '../submission/submission-scene.ts';

/** How a trial is built. */
export interface TrialOptions {
  readonly isDryRun?: boolean;
  readonly mayReplace?: boolean;
  readonly selfCheck?: (tree: string) => Promise<string>;
}

/** Builds trees from the runs of one scene, each with another configuration. */
export class BuildTrial {
  readonly scene: Scene;
  readonly #good: string;

  constructor(scene: Scene) {
    this.scene = scene;
    this.#good = readFileSync(scene.config, 'utf8');
  }

  /** Builds into `tree` (default: one of its own) after a change of the configuration. */
  async build(
    change: (submission: SceneSubmission) => void = () => {},
    { isDryRun = false, mayReplace = false, selfCheck }: TrialOptions = {},
    tree: string = join(tempFolder(), 'tree'),
  ): Promise<BuiltTree & { readonly tree: string }> {
    const { config } = this.scene;
    const file = parse(this.#good) as { submission: SceneSubmission };
    change(file.submission);
    writeFileSync(config, stringify(file));
    const more = selfCheck === undefined ? {} : { selfCheck };
    const built = await buildSubmission({ config, tree, isDryRun, mayReplace, ...more });
    return { ...built, tree };
  }

  /** What a build refuses, in paths relative to the scene; nothing was written. */
  async refusal(
    change: (submission: SceneSubmission) => void,
    options: TrialOptions = {},
  ): Promise<string> {
    const folder = tempFolder();
    const error = await this.build(change, options, join(folder, 'tree')).then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    expect(readdirSync(folder)).toEqual([]);
    return (error?.message ?? 'nothing').replaceAll(`${this.scene.folder}/`, '');
  }
}
