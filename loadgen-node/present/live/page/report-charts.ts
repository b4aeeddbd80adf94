// Script of pages opened from disk: shows the values at the pointer in each chart, and zooms along
// x, fitting y to the visible part. The page's tables contain all figures too, so the page is
// complete without it.

/**
 * Format written by charts/hover.ts: positions along x, their texts, and for each line the text at
 * each position.
 */
interface Group {
  readonly at: string;
  readonly x: string;
  readonly lines: readonly (readonly [name: string, texts: string])[];
}

/** A parsed group. */
interface ReadGroup {
  readonly places: readonly number[];
  readonly texts: readonly string[];
  readonly lines: readonly { readonly name: string; readonly texts: readonly string[] }[];
}

const SVG = 'http://www.w3.org/2000/svg';
/** Smallest pointer movement that counts as dragging, in drawing units. */
const DRAG_MIN = 8;
const TICKS = 5;
/**
 * Position of a chart's axes in drawing units (PLOT in charts/plot.ts): from its top, and from its
 * bottom.
 */
const TOP = 26;
const BELOW = 42;
/** Margin above and below the lines of a zoomed chart, as a share of its height. */
const ROOM = 0.06;
/** Largest zoom along y: marks for a larger one would have no texts. */
const FACTOR_MAX = 25;
/** Fewest marks shown along y if there are so many; smallest distance between their texts. */
const ROWS_MIN = 3;
const ROW_HEIGHT = 16;

type Point = readonly [x: number, y: number];

/** A mark along y: its original position, and its text. */
interface Mark {
  readonly y: number;
  readonly text: string;
}

class ZoomedChart {
  readonly #svg: SVGSVGElement;
  readonly #window: SVGSVGElement | null;
  readonly #groups: readonly ReadGroup[];
  readonly #left: number;
  readonly #right: number;
  readonly #height: number;
  readonly #bottom: number;
  readonly #lines: readonly (readonly Point[])[];
  /** From coarse to fine. */
  readonly #marks: readonly (readonly Mark[])[];
  /** Elements that keep their size (texts, dots, lines), each with its original position. */
  readonly #moved: readonly SVGGraphicsElement[];
  readonly #cursor: SVGElement;
  readonly #ticks: SVGElement;
  readonly #tip: HTMLElement;
  readonly #all: HTMLButtonElement;
  #from: number;
  #to: number;
  /** Visible y range, in original positions. */
  #low: number;
  #high = TOP;
  #dragFrom: number | null = null;
  /** Original position of the cursor. */
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
    this.#bottom = this.#height - BELOW;
    this.#low = this.#bottom;
    const paths = [...svg.querySelectorAll('.window path')];
    this.#lines = paths.flatMap((path) => pointsOf(path.getAttribute('d') ?? ''));
    this.#marks = marksOf(this.#window?.dataset['marks'] ?? '');
    this.#moved = [...svg.querySelectorAll<SVGGraphicsElement>('[data-x], [data-y]')];
    this.#ticks = document.createElementNS(SVG, 'g');
    // Below the lines.
    svg.insertBefore(this.#ticks, this.#window);
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

  /** Position of a pointer in the drawing. */
  #placeOf({ clientX }: PointerEvent): number {
    const { left, width } = this.#svg.getBoundingClientRect();
    const place = ((clientX - left) / width) * this.#svg.viewBox.baseVal.width;
    return Math.min(Math.max(place, this.#left), this.#right);
  }

  /** Original position for a position in the zoomed drawing. */
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
    [this.#high, this.#low] = isWhole ? [TOP, this.#bottom] : this.#fit();
    const share = (this.#low - this.#high) / (this.#bottom - TOP);
    const y = this.#high - TOP * share;
    const box = `${from} ${y} ${to - from} ${this.#height * share}`;
    this.#window.setAttribute('viewBox', box);
    for (const element of this.#moved) this.#move(element);
    this.#svg.classList.toggle('zoomed', !isWhole);
    this.#all.hidden = isWhole;
    this.#ticks.replaceChildren(...(isWhole ? [] : [...this.#drawRows(), ...this.#drawTicks()]));
    this.#show(null);
  }

  /** Visible lines' y range with a margin, within the axis. */
  #fit(): [high: number, low: number] {
    let high = Number.POSITIVE_INFINITY;
    let low = Number.NEGATIVE_INFINITY;
    for (const line of this.#lines) {
      for (const y of visibleOf(line, this.#from, this.#to)) {
        high = Math.min(high, y);
        low = Math.max(low, y);
      }
    }
    const whole = this.#bottom - TOP;
    if (high > low) return [TOP, this.#bottom];
    const room = Math.max((low - high) * ROOM, (whole / FACTOR_MAX - (low - high)) / 2);
    return [Math.max(high - room, TOP), Math.min(low + room, this.#bottom)];
  }

  #zoomedY(y: number): number {
    const share = (y - this.#high) / (this.#low - this.#high);
    return TOP + share * (this.#bottom - TOP);
  }

  /** Moves an element to its zoomed position, or hides it. */
  #move(element: SVGGraphicsElement): void {
    const { x, y } = element.dataset;
    const isSeen = (place: number, from: number, to: number): boolean =>
      place >= from - 0.1 && place <= to + 0.1;
    const [dx, dy] = [
      x === undefined ? 0 : this.#zoomed(Number(x)) - Number(x),
      y === undefined ? 0 : this.#zoomedY(Number(y)) - Number(y),
    ];
    const isInside =
      (x === undefined || isSeen(Number(x), this.#from, this.#to)) &&
      (y === undefined || isSeen(Number(y), this.#high, this.#low));
    element.style.display = isInside ? '' : 'none';
    element.setAttribute('transform', `translate(${dx} ${dy})`);
  }

  /** Marks along y, from the coarsest list with enough of them. */
  #drawRows(): SVGElement[] {
    const seen = this.#marks.map((marks) =>
      marks.filter(({ y }) => y >= this.#high - 0.1 && y <= this.#low + 0.1),
    );
    const marks = seen.find(({ length }) => length >= ROWS_MIN) ?? seen.at(-1) ?? [];
    let last = Number.POSITIVE_INFINITY;
    let lastText = '';
    return marks.flatMap(({ y, text }) => {
      const place = this.#zoomedY(y);
      // Texts have three digits: two close marks may have equal texts.
      if (last - place < ROW_HEIGHT || text === lastText) return [];
      [last, lastText] = [place, text];
      const line = document.createElementNS(SVG, 'path');
      line.setAttribute('class', 'grid');
      line.setAttribute('d', `M${this.#left} ${place}H${this.#right}`);
      const label = document.createElementNS(SVG, 'text');
      label.setAttribute('class', 'axis end');
      label.setAttribute('x', String(this.#left - 6));
      label.setAttribute('y', String(place + 4));
      label.textContent = text;
      return [line, label];
    });
  }

  /** Marks at positions with chart values, whose texts are known. */
  #drawTicks(): SVGElement[] {
    const group = this.#groups[0];
    if (group === undefined) return [];
    const marks = new Set<number>();
    for (let i = 0; i <= TICKS; i += 1) {
      const target = this.#from + ((this.#to - this.#from) * i) / TICKS;
      const index = nearest(group.places, target);
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
      line.setAttribute('d', `M${place} ${TOP}V${this.#bottom}`);
      const label = document.createElementNS(SVG, 'text');
      label.setAttribute('class', place > this.#right - 30 ? 'axis end' : 'axis middle');
      label.setAttribute('x', String(Math.min(place, this.#right)));
      label.setAttribute('y', String(this.#height - 26));
      label.textContent = text;
      return [line, label];
    });
  }

  /** Shows the values at a position of the drawing; null hides them. */
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
    const bottom = this.#bottom;
    const begin = this.#dragFrom;
    const selected = begin === null ? '' : `M${begin} ${TOP}H${place}V${bottom}H${begin}Z`;
    this.#cursor.setAttribute('d', `M${x} ${TOP}V${bottom}${selected}`);
    const title = document.createElement('strong');
    title.textContent = main.texts[index] ?? '';
    const rows = this.#groups.flatMap(({ places, lines }) => {
      const own = nearest(places, this.#at ?? 0);
      return lines.flatMap(({ name, texts }) => {
        const text = texts[own] ?? '-';
        if (text === '') return [];
        const row = document.createElement('span');
        row.textContent = `${name} ${text}`.trim();
        return [row];
      });
    });
    this.#tip.replaceChildren(title, ...rows);
    this.#placeTip(x);
  }

  /** Places the tip beside the cursor, on the side with room. */
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

  /** Zooms to a width around a position, within the chart. */
  #zoomTo(middle: number, width: number): void {
    const whole = this.#right - this.#left;
    const newWidth = Math.min(width, whole);
    const from = Math.min(Math.max(middle - newWidth / 2, this.#left), this.#right - newWidth);
    this.#zoom(from, from + newWidth);
    // The next key continues from there.
    this.#show(this.#zoomed(middle));
  }
}

/** Index of the nearest position; positions are ascending. */
function nearest(places: readonly number[], target: number): number {
  let best = 0;
  places.forEach((place, i) => {
    if (Math.abs(place - target) < Math.abs((places[best] ?? 0) - target)) best = i;
  });
  return best;
}

/** Points of a path's lines, from the commands that charts/plot.ts writes. */
function pointsOf(path: string): Point[][] {
  const lines: Point[][] = [];
  let [x, y] = [0, 0];
  for (const [, command = '', text = ''] of path.matchAll(/([MLHVmh])([^MLHVZmhz]*)/g)) {
    const [first = 0, second = 0] = text.trim().split(' ').map(Number);
    if (command === 'M') lines.push([]);
    if (command === 'H') x = first;
    else if (command === 'V') y = first;
    else if (command === 'h') x += first;
    else if (command === 'm') [x, y] = [x + first, y + second];
    else [x, y] = [first, second];
    lines.at(-1)?.push([x, y]);
  }
  return lines;
}

/**
 * The y values of a line's points within an x range, and where it crosses the ends of the range.
 */
function visibleOf(line: readonly Point[], from: number, to: number): number[] {
  return line.flatMap(([x, y], i) => {
    const seen = x >= from && x <= to ? [y] : [];
    const [nextX, nextY] = line[i + 1] ?? [x, y];
    for (const end of [from, to]) {
      if ((x - end) * (nextX - end) < 0) seen.push(y + ((end - x) / (nextX - x)) * (nextY - y));
    }
    return seen;
  });
}

/** Marks in the format that charts/hover.ts writes. */
function marksOf(lists: string): Mark[][] {
  return lists.split('\n').map((list) =>
    list.split('|').flatMap((mark) => {
      const [y = '', ...words] = mark.split(' ');
      return y === '' ? [] : [{ y: Number(y), text: words.join(' ') }];
    }),
  );
}

for (const svg of document.querySelectorAll<SVGSVGElement>('svg[data-hover]')) new ZoomedChart(svg);
