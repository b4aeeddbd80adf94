/**
 * Marks of `markSource`: one for each character. The quotes of a string are code, its text is not.
 */
const CODE = 0;
const COMMENT = 1;
/** Text of a string or template, or a whole regex literal. */
const LITERAL = 2;

/** Non-blank lines of a file: a line with code and a comment is a line of code. */
export interface LineCount {
  readonly code: number;
  readonly comments: number;
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?|[\w$\u0080-\uffff]+|\s+|\+\+|--|[\s\S]/y;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y;
const REGEX = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y;

/** Words after which a slash begins a regex; after any other word it divides. */
const BEFORE_VALUE = new Set(
  'await case delete do else extends in instanceof new of return throw typeof void yield'.split(
    ' ',
  ),
);
const CONDITION = new Set(['if', 'while', 'for', 'with']);
/** Stands for any token that ends a value, as an identifier does. */
const VALUE = 'x';

/**
 * Tells code, comments and literals of TypeScript or JavaScript apart. A slash after `}` is taken
 * for the start of a regex if the line holds its end: without a parser nothing tells a block from
 * an object there.
 * @returns A mark for each UTF-16 unit of the text.
 */
function markSource(text: string): Uint8Array {
  return new Scanner(text).scan();
}

class Scanner {
  readonly #text: string;
  readonly #marks: Uint8Array;
  #at = 0;
  /** The last token that is neither white space nor a comment. */
  #before = '';
  /** For each open parenthesis, whether it holds the condition of a statement. */
  readonly #parentheses: boolean[] = [];
  /** For each open brace, whether it belongs to a template. */
  readonly #braces: boolean[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#marks = new Uint8Array(text.length);
  }

  scan(): Uint8Array {
    if (this.#text.startsWith('#!')) this.#at = this.#text.indexOf('\n');
    if (this.#at < 0) return this.#marks;
    while (this.#at < this.#text.length) {
      if (this.#text[this.#at] === '/' && this.#regex()) continue;
      this.#token(this.#match(TOKEN));
    }
    return this.#marks;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  #token(token: string): void {
    const start = this.#at;
    const first = token[0] as string; // TOKEN matches at least one character
    this.#at += token.length;
    if (token.startsWith('//') || token.startsWith('/*')) {
      this.#marks.fill(COMMENT, start, this.#at);
    } else if (first === "'" || first === '"') {
      this.#marks.fill(LITERAL, start + 1, this.#at - 1);
      this.#before = VALUE;
    } else if (first === '`') {
      this.#template();
    } else if (token.trim() !== '') {
      this.#before = this.#meaning(token);
    }
  }

  /** @returns What the token is to a slash behind it. */
  #meaning(token: string): string {
    const before = this.#before;
    if (token === '(') this.#parentheses.push(CONDITION.has(before));
    if (token === ')') return this.#parentheses.pop() ? token : VALUE;
    if (token === '{') this.#braces.push(false);
    if (token === '}' && this.#braces.pop()) return this.#template();
    const isProperty = before === '.' && /\w/.test(token);
    const isPostfix = ['++', '--', '!'].includes(token) && !beginsValue(before);
    return isProperty || isPostfix ? VALUE : token;
  }

  /** Text of a template up to its end or to a value in it. */
  #template(): string {
    const length = this.#match(TEMPLATE_TEXT).length;
    this.#marks.fill(LITERAL, this.#at, this.#at + length);
    this.#at += length;
    const endsHere = this.#text[this.#at] !== '$';
    this.#at += endsHere ? 1 : 2;
    if (!endsHere) this.#braces.push(true);
    this.#before = endsHere ? VALUE : '{';
    return this.#before;
  }

  #regex(): boolean {
    const length = beginsValue(this.#before) ? this.#match(REGEX).length : 0;
    if (length === 0) return false;
    this.#marks.fill(LITERAL, this.#at, this.#at + length);
    this.#at += length;
    this.#before = VALUE;
    return true;
  }
}

/** Whether a value, and so a regex, may stand after the token. */
function beginsValue(before: string): boolean {
  return /^[\w$\u0080-\uffff]/.test(before) ? BEFORE_VALUE.has(before) : before !== ']';
}

/**
 * The same text with a space for each character of a comment and `_` for each of a literal, so that
 * a pattern finds code alone. Line breaks stay, and so do all positions.
 */
export function maskSource(text: string): string {
  const marks = markSource(text);
  const masked = Array.from({ length: text.length }, (_, i) => {
    const unit = text[i] as string; // i is below the length
    if (unit === '\n' || marks[i] === CODE) return unit;
    return marks[i] === COMMENT ? ' ' : '_';
  });
  return masked.join('');
}

/** Counts lines by the comments of the language that the file's ending names. */
export function countLines(file: string, text: string): LineCount {
  if (/\.(?:sh|py|ya?ml)$/.test(file)) {
    return count(
      text.split('\n'),
      (line, i) => /^\s*#/.test(line) && !(i === 0 && isShebang(line)),
    );
  }
  const marks = /\.(?:ts|mjs|js)$/.test(file) ? markSource(text) : markBlocks(file, text);
  let start = 0;
  return count(text.split('\n'), (line) => {
    const from = start;
    start += line.length + 1;
    return !hasCode(line, marks.subarray(from, start));
  });
}

function count(
  lines: readonly string[],
  isComment: (line: string, index: number) => boolean,
): LineCount {
  let code = 0;
  let comments = 0;
  lines.forEach((line, index) => {
    const comment = isComment(line, index);
    if (line.trim() === '') return;
    if (comment) comments++;
    else code++;
  });
  return { code, comments };
}

function isShebang(line: string): boolean {
  return line.startsWith('#!');
}

function hasCode(line: string, marks: Uint8Array): boolean {
  for (let i = 0; i < line.length; i++) {
    if (marks[i] !== COMMENT && line[i]?.trim() !== '') return true;
  }
  return false;
}

/** Comments of CSS and HTML, which have one form each. */
function markBlocks(file: string, text: string): Uint8Array {
  const marks = new Uint8Array(text.length);
  const comment = file.endsWith('.css') ? /\/\*[\s\S]*?\*\//g : /<!--[\s\S]*?-->/g;
  for (const { 0: found, index } of text.matchAll(comment)) {
    marks.fill(COMMENT, index, index + found.length);
  }
  return marks;
}
