// The script of pages that open from disk: reads the values below a pointer out of each chart, and zooms along x. It draws
// nothing that the page does not have, and without it the page is whole: tables have the figures.

/** As charts/hover.ts makes it: places along x, their texts, and of each line the text at each place. */
interface Group {
  readonly at: string;
  readonly x: string;
  readonly lines: readonly (readonly [name: string, texts: string])[];
}

/** A group taken apart. */
interface ReadGroup {
  readonly places: readonly number[];
  readonly texts: readonly string[];
  readonly lines: readonly { readonly name: string; readonly texts: readonly string[] }[];
}

const SVG = 'http://www.w3.org/2000/svg';
/** A pointer that moved less, in units of the drawing, did not drag. */
const DRAG_MIN = 8;
const TICKS = 5;

class ZoomedChart {
  readonly #svg: SVGSVGElement;
  readonly #window: SVGSVGElement | null;
  readonly #groups: readonly ReadGroup[];
  readonly #left: number;
  readonly #right: number;
  readonly #height: number;
  readonly #cursor: SVGElement;
  readonly #ticks: SVGElement;
  readonly #tip: HTMLElement;
  readonly #all: HTMLButtonElement;
  #from: number;
  #to: number;
  #dragFrom: number | null = null;
  /** Place of the cursor as it was drawn first. */
  #at: number | null = null;

  constructor(svg: SVGSVGElement) {
    this.#svg = svg;
    this.#window = svg.querySelector<SVGSVGElement>('.window');
    const groups = JSON.parse(svg.dataset['hover'] ?? '[]') as readonly Group[];
    this.#groups = groups.map(({ at, x, lines }) => ({
      places: at.split('|').map(Number),
      texts: x.split('|'),
      lines: lines.map(([name, texts]) => ({ name, texts: texts.split('|') })),
    }));
    const box = this.#window?.viewBox.baseVal ?? svg.viewBox.baseVal;
    this.#left = box.x;
    this.#right = box.x + box.width;
    this.#height = svg.viewBox.baseVal.height;
    [this.#from, this.#to] = [this.#left, this.#right];
    this.#ticks = svg.appendChild(document.createElementNS(SVG, 'g'));
    this.#cursor = svg.appendChild(document.createElementNS(SVG, 'path'));
    this.#cursor.setAttribute('class', 'cursor');
    const figure = svg.closest('figure') ?? svg.parentElement;
    this.#tip = document.createElement('div');
    this.#tip.className = 'tip';
    this.#tip.setAttribute('role', 'status');
    this.#tip.hidden = true;
    this.#all = document.createElement('button');
    this.#all.className = 'whole';
    this.#all.type = 'button';
    this.#all.textContent = 'Show all';
    this.#all.hidden = true;
    figure?.append(this.#tip, this.#all);
    this.#listen();
  }

  #listen(): void {
    const svg = this.#svg;
    this.#all.addEventListener('click', () => this.#zoom(this.#left, this.#right));
    svg.addEventListener('dblclick', () => this.#zoom(this.#left, this.#right));
    svg.addEventListener('pointermove', (event) => this.#show(this.#placeOf(event)));
    svg.addEventListener('pointerleave', () => {
      if (this.#dragFrom === null) this.#show(null);
    });
    svg.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || this.#window === null) return;
      this.#dragFrom = this.#placeOf(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener('pointerup', (event) => {
      const begin = this.#dragFrom;
      this.#dragFrom = null;
      if (begin === null) return;
      const end = this.#placeOf(event);
      const [from, to] = [
        this.#unzoomed(Math.min(begin, end)),
        this.#unzoomed(Math.max(begin, end)),
      ];
      if (Math.abs(end - begin) > DRAG_MIN) this.#zoom(from, to);
      else this.#show(end);
    });
    svg.addEventListener('pointercancel', () => {
      this.#dragFrom = null;
    });
    svg.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** Place of a pointer in the drawing. */
  #placeOf({ clientX }: PointerEvent): number {
    const { left, width } = this.#svg.getBoundingClientRect();
    const place = ((clientX - left) / width) * this.#svg.viewBox.baseVal.width;
    return Math.min(Math.max(place, this.#left), this.#right);
  }

  /** Where a place of the zoomed drawing was before. */
  #unzoomed(place: number): number {
    const share = (place - this.#left) / (this.#right - this.#left);
    return this.#from + share * (this.#to - this.#from);
  }

  #zoomed(place: number): number {
    const share = (place - this.#from) / (this.#to - this.#from);
    return this.#left + share * (this.#right - this.#left);
  }

  #zoom(from: number, to: number): void {
    if (this.#window === null) return;
    [this.#from, this.#to] = [from, to];
    const isWhole = from === this.#left && to === this.#right;
    const { y, height } = this.#window.viewBox.baseVal;
    this.#window.setAttribute('viewBox', `${from} ${y} ${to - from} ${height}`);
    this.#svg.classList.toggle('zoomed', !isWhole);
    this.#all.hidden = isWhole;
    this.#ticks.replaceChildren(...(isWhole ? [] : this.#drawTicks()));
    this.#show(null);
  }

  /** Marks at places that the chart has values of: their texts are known. */
  #drawTicks(): SVGElement[] {
    const group = this.#groups[0];
    if (group === undefined) return [];
    const marks = new Set<number>();
    for (let i = 0; i <= TICKS; i += 1) {
      const wanted = this.#from + ((this.#to - this.#from) * i) / TICKS;
      const index = nearest(group.places, wanted);
      const place = this.#zoomed(group.places[index] ?? 0);
      if (place >= this.#left && place <= this.#right) marks.add(index);
    }
    let last = Number.NEGATIVE_INFINITY;
    return [...marks].flatMap((index) => {
      const place = this.#zoomed(group.places[index] ?? 0);
      const text = group.texts[index] ?? '';
      if (place - last < text.length * 8) return [];
      last = place;
      const line = document.createElementNS(SVG, 'path');
      line.setAttribute('class', 'grid');
      line.setAttribute('d', `M${place} 26V${this.#height - 42}`);
      const label = document.createElementNS(SVG, 'text');
      label.setAttribute('class', place > this.#right - 30 ? 'axis end' : 'axis middle');
      label.setAttribute('x', String(Math.min(place, this.#right)));
      label.setAttribute('y', String(this.#height - 26));
      label.textContent = text;
      return [line, label];
    });
  }

  /** Shows the values at a place of the drawing; null: none. */
  #show(place: number | null): void {
    const main = this.#groups[0];
    this.#tip.hidden = place === null || main === undefined;
    if (place === null || main === undefined) {
      this.#cursor.setAttribute('d', '');
      this.#at = null;
      return;
    }
    const index = nearest(main.places, this.#unzoomed(place));
    this.#at = main.places[index] ?? 0;
    const x = this.#zoomed(this.#at);
    const bottom = this.#height - 42;
    const begin = this.#dragFrom;
    const selected = begin === null ? '' : `M${begin} 26H${place}V${bottom}H${begin}Z`;
    this.#cursor.setAttribute('d', `M${x} 26V${bottom}${selected}`);
    const title = document.createElement('strong');
    title.textContent = main.texts[index] ?? '';
    const rows = this.#groups.flatMap(({ places, lines }) => {
      const own = nearest(places, this.#at ?? 0);
      return lines.map(({ name, texts }) => {
        const row = document.createElement('span');
        row.textContent = `${name} ${texts[own] ?? '-'}`;
        return row;
      });
    });
    this.#tip.replaceChildren(title, ...rows);
    this.#placeTip(x);
  }

  /** Beside the cursor, on the side that has room. */
  #placeTip(x: number): void {
    const figure = this.#tip.parentElement?.getBoundingClientRect();
    const drawn = this.#svg.getBoundingClientRect();
    if (figure === undefined) return;
    const scale = drawn.width / this.#svg.viewBox.baseVal.width;
    const place = drawn.left - figure.left + x * scale;
    const { style, offsetWidth } = this.#tip;
    const isRight = place + 12 + offsetWidth < figure.width;
    const left = isRight ? place + 12 : place - 12 - offsetWidth;
    style.left = `${Math.max(left, 2)}px`;
    style.top = `${drawn.top - figure.top + 28 * scale}px`;
  }

  #onKey(event: KeyboardEvent): void {
    const places = this.#groups[0]?.places ?? [];
    const now = this.#at === null ? places.length - 1 : nearest(places, this.#at);
    const go = (index: number): void => {
      const place = places[Math.min(Math.max(index, 0), places.length - 1)] ?? 0;
      this.#show(Math.min(Math.max(this.#zoomed(place), this.#left), this.#right));
    };
    const middle = places[now] ?? this.#left;
    const width = this.#to - this.#from;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => go(now - 1),
      ArrowRight: () => go(now + 1),
      Home: () => go(0),
      End: () => go(places.length - 1),
      '+': () => this.#zoomTo(middle, width / 2),
      '-': () => this.#zoomTo(middle, width * 2),
      Escape: () => this.#zoom(this.#left, this.#right),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  /** Zooms to a width around a place, within the chart. */
  #zoomTo(middle: number, width: number): void {
    const whole = this.#right - this.#left;
    const wanted = Math.min(width, whole);
    const from = Math.min(Math.max(middle - wanted / 2, this.#left), this.#right - wanted);
    this.#zoom(from, from + wanted);
  }
}

/** Number of the place that is nearest; places rise. */
function nearest(places: readonly number[], wanted: number): number {
  let best = 0;
  places.forEach((place, i) => {
    if (Math.abs(place - wanted) < Math.abs((places[best] ?? 0) - wanted)) best = i;
  });
  return best;
}

for (const svg of document.querySelectorAll<SVGSVGElement>('svg[data-hover]')) new ZoomedChart(svg);
