import { CHARTS } from '../chart-specs.ts';
import { type FeedConnection, livePanels, liveTitle, originOf } from '../live-page.ts';
import { LiveState, type ToLiveThread, type WholeState } from '../live-state.ts';
import { Chart } from './chart.ts';

// Script of the live page: holds the same state as the command, and draws it.

/** Delay before reconnecting after a refusal, when browsers stop trying by themselves, in ms. */
const AGAIN_MS = 3_000;

const state = new LiveState();
const figures = [...document.querySelectorAll('figure')];
const charts = CHARTS.map((spec, i) => new Chart(spec, figures[i] as Element));
const shown = new Map<string, string>();
let connection: FeedConnection = 'connecting';
let isDrawPlanned = false;

/** Schedules a draw; browsers run no frames for a hidden page, so it is drawn when shown again. */
function planDraw(): void {
  if (isDrawPlanned) return;
  isDrawPlanned = true;
  requestAnimationFrame(() => {
    isDrawPlanned = false;
    draw();
  });
}

function draw(): void {
  document.title = liveTitle(state);
  for (const [id, content] of Object.entries(livePanels(state, connection))) {
    const text = content?.text ?? '';
    // Screen readers announce a status when it changes, not every second.
    if (shown.get(id) === text) continue;
    shown.set(id, text);
    const element = document.getElementById(id);
    if (element !== null) element.innerHTML = text;
  }
  const { points } = state.history;
  const nodes = state.runs.at(-1)?.nodes ?? [];
  for (const chart of charts) chart.update(points, nodes, originOf(points));
}

/** Receives events until the command ends; reconnects when the connection is lost. */
function listen(): void {
  const source = new EventSource('events');
  const on = <T>(name: string, take: (content: T) => void): void =>
    source.addEventListener(name, (event) => {
      take(JSON.parse((event as MessageEvent<string>).data) as T);
      planDraw();
    });
  const connect = (next: FeedConnection): void => {
    connection = next;
    planDraw();
  };
  source.addEventListener('open', () => connect('open'));
  on('state', (whole: WholeState) => state.load(whole));
  on('change', (message: ToLiveThread) => state.apply(message));
  source.addEventListener('bye', () => {
    source.close();
    connect('over');
  });
  source.addEventListener('error', () => {
    connect('lost');
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS);
  });
}

draw();
listen();
