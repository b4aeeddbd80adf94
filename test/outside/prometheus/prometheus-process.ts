import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scenes/host/ports.ts';

/** Why there is no Prometheus to test with; undefined where there is one. */
export function whyNoPrometheus(): string | undefined {
  const { error, status } = spawnSync('prometheus', ['--version'], { stdio: 'ignore' });
  if (error !== undefined) return 'no prometheus here: apt-get install prometheus';
  return status === 0 ? undefined : `prometheus --version ended with ${status}`;
}

/** A real Prometheus that scrapes one place each second, on a free port of loopback. */
export class PrometheusProcess {
  readonly #child: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  /**
   * @param folder An empty one, for its configuration and data.
   * @param target Host and port of the metrics.
   */
  static async start(folder: string, target: string): Promise<PrometheusProcess> {
    const config = join(folder, 'prometheus.yml');
    writeFileSync(
      config,
      `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: longhaul
    static_configs: [{ targets: ['${target}'] }]
`,
    );
    const listen = `127.0.0.1:${await freePort()}`;
    const data = join(folder, 'data');
    const flags = [`--config.file=${config}`, `--storage.tsdb.path=${data}`];
    const child = spawn('prometheus', [...flags, `--web.listen-address=${listen}`], {
      stdio: 'ignore',
    });
    return new PrometheusProcess(child, `http://${listen}`);
  }

  /**
   * The value of an expression that has one series; NaN where it has none, or Prometheus is not up
   * yet.
   */
  async value(expression: string): Promise<number> {
    const query = new URLSearchParams({ query: expression });
    let answer: { data: { result: readonly { value: readonly [number, string] }[] } };
    try {
      const response = await fetch(`${this.#url}/api/v1/query?${query}`);
      if (!response.ok) return Number.NaN;
      answer = (await response.json()) as typeof answer;
    } catch (error) {
      // Not listening yet: the caller asks again, until its time is over.
      if (error instanceof TypeError) return Number.NaN;
      throw error;
    }
    return Number(answer.data.result[0]?.value[1] ?? Number.NaN);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}
