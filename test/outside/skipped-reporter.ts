import type { Reporter, TestModule, Vitest } from 'vitest/node';

/**
 * Prints at the end how many tests of each folder were skipped, and what the folder needs: a green
 * result must not hide it.
 */
export class SkippedReporter implements Reporter {
  readonly #needs: ReadonlyMap<string, string | undefined>;
  #vitest: Vitest | undefined;

  /** @param needs By the name of the folder. */
  constructor(needs: ReadonlyMap<string, string | undefined>) {
    this.#needs = needs;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // A filter by title skips as well, and says so itself.
    if (this.#vitest?.getGlobalTestNamePattern() !== undefined) return;
    for (const [name, needs] of this.#needs) {
      const own = modules.filter(({ project }) => project.name === name);
      const count = (state?: 'skipped'): number =>
        own.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
      if (count('skipped') === 0) continue;
      const why = needs === undefined ? '' : `; the folder needs ${needs}`;
      console.log(`SKIPPED: ${name}: ${count('skipped')} of ${count()} tests${why}`);
    }
  }
}
