import { isUtf8 } from 'node:buffer';

/** Largest element in bytes: one more than twice as long would not fit into a string. */
const ELEMENT_BYTES_MAX = 2 ** 28;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;

/** Bytes shown of unexpected text. */
const SHOWN_BYTES = 60;

/** Place of a byte in a file. */
export interface FilePlace {
  /** From 1. */
  readonly line: number;
  /** From 0. */
  readonly byte: number;
}

/** One object of the list. */
export interface ScannedElement extends FilePlace {
  readonly text: string;
}

/** Thrown if the bytes are not a list of objects; the caller adds the file's name. */
export class NotAListError extends Error {
  readonly place: FilePlace;

  constructor(place: FilePlace, message: string) {
    super(message);
    this.place = place;
  }
}

/** The token that may come next between elements. */
type Expected = 'begin' | 'element-or-end' | 'element' | 'comma-or-end' | 'nothing';

/**
 * Splits a JSON list of objects into its elements while it is read, with any white space and lines;
 * only one element is in memory. JSON.parse checks the inside of an element.
 */
export class JsonArrayScanner {
  #expects: Expected = 'begin';
  /** Open brackets within the element; 0 between elements. */
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #begin: FilePlace = { line: 1, byte: 0 };
  /** Newlines read so far. */
  #newlines = 0;
  /** Bytes of all earlier chunks. */
  #chunkBegin = 0;
  /** Line of the last byte that was not white space; 0 if there was none. */
  #lastLine = 0;

  /** @throws NotAListError */
  *add(chunk: Buffer): Generator<ScannedElement> {
    const hasEscapes = chunk.includes(BACKSLASH);
    let at = 0;
    while (at < chunk.length) {
      if (this.#depth === 0) {
        at = this.#between(chunk, at);
        continue;
      }
      const from = at;
      at = this.#inside(chunk, from, hasEscapes);
      this.#keep(chunk.subarray(from, at));
      if (this.#depth === 0) yield this.#element();
    }
    this.#chunkBegin += chunk.length;
  }

  /** Call at the end of the file. @throws NotAListError */
  end(): void {
    if (this.#expects === 'nothing') return;
    const place = { line: this.#lastLine, byte: this.#chunkBegin };
    const isEmpty = this.#lastLine === 0;
    throw new NotAListError(
      place,
      isEmpty ? 'it is empty' : 'the list does not end: it was cut off',
    );
  }

  /** Processes one byte between elements, except an element's first bracket. */
  #between(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    if (byte === NEWLINE) this.#newlines += 1;
    if (byte === NEWLINE || byte === 0x20 || byte === 0x09 || byte === 0x0d) return at + 1;
    this.#lastLine = this.#newlines + 1;
    if (byte === OPEN_OBJECT && this.#expects.startsWith('element')) {
      this.#begin = this.#placeOf(at);
      this.#keep(chunk.subarray(at, at + 1));
      this.#depth = 1;
    } else {
      this.#expects = this.#afterMark(byte, chunk, at);
    }
    return at + 1;
  }

  #afterMark(byte: number, chunk: Buffer, at: number): Expected {
    const expected = this.#expects;
    if (byte === OPEN_LIST && expected === 'begin') return 'element-or-end';
    if (byte === COMMA && expected === 'comma-or-end') return 'element';
    if (byte === CLOSE_LIST && expected.endsWith('or-end')) return 'nothing';
    const shown = chunk
      .subarray(at, at + SHOWN_BYTES)
      .toString('latin1')
      .split('\n', 1)[0];
    throw new NotAListError(this.#placeOf(at), `unexpected ${JSON.stringify(shown)}`);
  }

  /** @returns Position where the element ends in the chunk, or the chunk's end. */
  #inside(chunk: Buffer, from: number, hasEscapes: boolean): number {
    let at = from;
    while (at < chunk.length && this.#depth > 0) {
      if (this.#isInText) {
        if (hasEscapes || this.#isEscaped) at = this.#textByte(chunk, at);
        else at = this.#textEnd(chunk, at);
        continue;
      }
      const byte = chunk[at] as number;
      at += 1;
      if (byte === QUOTE) this.#isInText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#depth -= 1;
      else if (byte === NEWLINE) this.#newlines += 1;
    }
    this.#lastLine = this.#newlines + 1;
    return at;
  }

  /**
   * Fast path for long responses (megabytes): finds the end of a text without escapes in one
   * search.
   */
  #textEnd(chunk: Buffer, at: number): number {
    const quote = chunk.indexOf(QUOTE, at);
    if (quote < 0) return chunk.length;
    this.#isInText = false;
    return quote + 1;
  }

  #textByte(chunk: Buffer, at: number): number {
    const byte = chunk[at];
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInText = false;
    return at + 1;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes <= ELEMENT_BYTES_MAX) return;
    throw new NotAListError(this.#begin, `an entry is longer than ${ELEMENT_BYTES_MAX} bytes`);
  }

  #element(): ScannedElement {
    const [first] = this.#pieces;
    const bytes = this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#expects = 'comma-or-end';
    if (!isUtf8(bytes)) throw new NotAListError(this.#begin, 'an entry is not UTF-8');
    return { ...this.#begin, text: bytes.toString('utf8') };
  }

  #placeOf(at: number): FilePlace {
    return { line: this.#newlines + 1, byte: this.#chunkBegin + at };
  }
}
