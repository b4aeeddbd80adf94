import 'uplot/dist/uPlot.min.css';
import './style.css';
import { CHARTS } from '../chart-specs.ts';
import { LiveState } from '../live-state.ts';
import { Chart } from './chart.ts';
import { byId } from './dom.ts';
import { type FeedConnection, listen } from './feed.ts';
import {
  showNodes,
  showNow,
  showProgress,
  showResolution,
  showRun,
  showRuns,
  showSeconds,
  showState,
  showVerdict,
} from './panels.ts';

/** The page: what the command tells, kept in the same way as by the command itself, and drawn when it changes. */
class LivePage {
  readonly #state = new LiveState();
  readonly #charts = CHARTS.map((spec) => new Chart(spec));
  #connection: FeedConnection = 'connecting';
  #isDrawPlanned = false;

  start(): void {
    byId('charts').append(...this.#charts.map(({ figure }) => figure));
    this.#draw();
    listen({
      whole: (state) => {
        this.#state.load(state);
        this.#planDraw();
      },
      change: (message) => {
        this.#state.apply(message);
        this.#planDraw();
      },
      connection: (connection) => {
        this.#connection = connection;
        this.#planDraw();
      },
    });
    byId('table-details').addEventListener('toggle', () => this.#planDraw());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      for (const chart of this.#charts) chart.rebuild();
    });
  }

  /** A page that nobody sees is drawn when it is seen again: a browser calls no frame before. */
  #planDraw(): void {
    if (this.#isDrawPlanned) return;
    this.#isDrawPlanned = true;
    requestAnimationFrame(() => {
      this.#isDrawPlanned = false;
      this.#draw();
    });
  }

  #draw(): void {
    const { points, pointS, latest } = this.#state.history;
    const { runs } = this.#state;
    const run = runs.at(-1);
    const verdict = run?.verdict ?? null;
    const [first] = points;
    const originS = first === undefined ? 0 : first.atS - first.windowS;
    const nodes = run?.nodes ?? [];
    showRun(run);
    showState(this.#connection, run);
    showVerdict(verdict);
    showProgress(latest, verdict !== null);
    showNow(latest, verdict !== null);
    showNodes(nodes, latest);
    showSeconds(points, originS);
    showResolution(pointS);
    showRuns(runs);
    for (const chart of this.#charts) chart.update(points, nodes, originS);
  }
}

new LivePage().start();
