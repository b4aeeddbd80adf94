import type { LiveSnapshot } from '../../../observe/live/live-snapshot.ts';
import { coordinate, drawSign, PLOT, type Series, xOf } from '../../charts/plot.ts';
import type { Axis } from '../../charts/scale.ts';
import { html } from '../../html/html.ts';
import { clock } from '../../text/figure-text.ts';
import { type ChartSpec, chartLines, drawChart, valueText } from '../chart-specs.ts';

/**
 * One chart with its legend. Its buttons show and hide lines, and show the values at the cursor
 * (without a cursor, the latest).
 */
export class Chart {
  readonly #spec: ChartSpec;
  readonly #figure: Element;
  readonly #plot: SVGElement;
  readonly #drawing: Element;
  readonly #cursor: Element;
  readonly #legend: Element;
  /** Text for screen readers when the cursor is moved by keyboard. */
  readonly #spoken: Element;
  readonly #hidden = new Set<string>();
  #lines: readonly Series[] = [];
  #x: Axis | undefined;
  /** Index of the point at the cursor; null without a cursor. */
  #at: number | null = null;

  /** @param figure Its element in the page. */
  constructor(spec: ChartSpec, figure: Element) {
    const part = <T extends Element>(selector: string): T => figure.querySelector(selector) as T;
    this.#spec = spec;
    this.#figure = figure;
    this.#plot = part('.plot');
    this.#drawing = part('.plot g');
    this.#cursor = part('.plot .frame');
    this.#legend = part('.lines');
    this.#spoken = part('[aria-live]');
    this.#plot.addEventListener('keydown', (event) => this.#onKey(event));
    this.#plot.addEventListener('pointermove', (event) => this.#onPointer(event));
    this.#plot.addEventListener('pointerleave', () => this.#moveTo(null));
    this.#legend.addEventListener('click', (event) => {
      const button = (event.target as Element).closest('button');
      if (button !== null) this.#toggle(button);
    });
  }

  /** Draws the current points. */
  update(points: readonly LiveSnapshot[], nodes: readonly string[], originS: number): void {
    const before = this.#lines.map(({ name }) => name).join('\n');
    this.#lines = chartLines(this.#spec, points, nodes, originS);
    this.#figure.toggleAttribute('hidden', points.length > 0 && this.#lines.length === 0);
    // Keep a focused button in place.
    if (this.#lines.map(({ name }) => name).join('\n') !== before) this.#fillLegend();
    this.#draw();
  }

  #draw(): void {
    const shown = this.#lines.filter(({ name }) => !this.#hidden.has(name));
    const { drawing, x } = drawChart(this.#spec, shown);
    this.#x = x;
    this.#drawing.innerHTML = drawing.text;
    this.#moveTo(this.#at);
  }

  #fillLegend(): void {
    const items = this.#lines.map(
      ({ name, className }) =>
        html`<li><button type="button" aria-pressed="${String(!this.#hidden.has(name))}" value="${name}">${drawSign(className, this.#spec.isStacked ? 'area' : 'line')}${name} <span></span></button></li>`,
    );
    this.#legend.innerHTML = html`${items}`.text;
  }

  #toggle(button: HTMLButtonElement): void {
    if (!this.#hidden.delete(button.value)) this.#hidden.add(button.value);
    button.setAttribute('aria-pressed', String(!this.#hidden.has(button.value)));
    this.#draw();
  }

  /**
   * Moves the cursor to a point and shows its values; null removes the cursor and shows the last
   * point.
   */
  #moveTo(at: number | null): void {
    const seconds = this.#seconds;
    this.#at = at === null || seconds.length === 0 ? null : Math.min(at, seconds.length - 1);
    const shown = this.#at ?? seconds.length - 1;
    const values = this.#legend.querySelectorAll('span');
    this.#lines.forEach(({ points }, i) => {
      const value = points[shown]?.[1] ?? Number.NaN;
      const text = Number.isFinite(value) ? valueText(this.#spec, value) : '-';
      values[i]?.replaceChildren(text);
    });
    const second = this.#at === null ? undefined : seconds[this.#at];
    const place =
      second === undefined || this.#x === undefined
        ? ''
        : `M${coordinate(xOf({ x: this.#x }, second))} ${PLOT.top}V${PLOT.height - PLOT.bottom}`;
    this.#cursor.setAttribute('d', place);
  }

  get #seconds(): readonly number[] {
    return this.#lines[0]?.points.map(([second]) => second) ?? [];
  }

  #onPointer({ clientX }: PointerEvent): void {
    const x = this.#x;
    if (x === undefined) return;
    const { left, width } = this.#plot.getBoundingClientRect();
    const place = ((clientX - left) / width) * PLOT.width;
    const distances = this.#seconds.map((second) => Math.abs(xOf({ x }, second) - place));
    const nearest = distances.reduce(
      (best, one, i) => (one < (distances[best] ?? 0) ? i : best),
      0,
    );
    this.#moveTo(distances.length === 0 ? null : nearest);
  }

  #onKey(event: KeyboardEvent): void {
    const last = this.#seconds.length - 1;
    if (last < 0) return;
    const now = this.#at ?? last;
    const places: Readonly<Record<string, number | null>> = {
      ArrowLeft: Math.max(0, now - 1),
      ArrowRight: Math.min(last, now + 1),
      Home: 0,
      End: last,
      Escape: null,
    };
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#moveTo(next);
    if (next === null) return;
    const values = [...this.#legend.querySelectorAll('button')].map(
      ({ value, lastElementChild }) => `${value} ${lastElementChild?.textContent}`,
    );
    this.#spoken.textContent = `${clock(this.#seconds[next] ?? 0)}: ${values.join(', ')}`;
  }
}
