/** Two or more dashes or points; also points separated by blanks. */
const REPEATED = String.raw`(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)`;

/** Marks that are not part of a word. */
const OUTSIDE = String.raw`[)";}\]*:@'({[!?]`;

/**
 * A mark that may end a sentence. Groups: a following mark outside of words, or blanks and a token;
 * that token.
 */
const PERHAPS_END = new RegExp(String.raw`[.?!](?=(${OUTSIDE}|\s+(\S+)))`, 'gu');

/** A word with the points in it, or marks. */
const TOKENS = new RegExp(
  String.raw`${REPEATED}|(?![("\x60{\[:;&#*@)}\]\-,])\S+?(?=\s|$|${OUTSIDE}|${REPEATED}|,(?=$|\s|${OUTSIDE}|${REPEATED}))|\S`,
  'gu',
);

/**
 * Closing marks that belong to the previous sentence; sticky: only at the start of the next
 * sentence.
 */
const CLOSING = /["')\]}]+?(?:\s+|(?=--)|$)/muy;

const NUMBER = /^-?[.,]?\d[\d,.-]*$/u;
const INITIAL = /^[\p{L}\p{Nl}\p{No}_]\.$/u;

/**
 * Sentences of an English text like NLTK's untrained Punkt: it knows marks, numbers and initials,
 * but no abbreviations.
 */
export function sentencesOfText(text: string): string[] {
  const sentences: string[] = [];
  let begin = 0;
  for (const { end, next } of sentenceEnds(text)) {
    CLOSING.lastIndex = next;
    const closing = CLOSING.exec(text)?.[0] ?? '';
    const closedEnd = closing === '' ? end : next + closing.trimEnd().length;
    if (begin < closedEnd) sentences.push(text.slice(begin, closedEnd));
    begin = next + closing.length;
  }
  const rest = text.slice(begin).trimEnd();
  return rest === '' ? sentences : [...sentences, rest];
}

/** End of each sentence except the last, and the start of the next. */
function sentenceEnds(text: string): { readonly end: number; readonly next: number }[] {
  const ends: { end: number; next: number }[] = [];
  let mark: RegExpExecArray | undefined;
  /** From the last blank to the mark. */
  let word = { begin: 0, end: 0 };
  const judge = (): void => {
    if (mark === undefined) return;
    const [letter, behind = '', nextToken = ''] = mark;
    if (!isEnd(`${text.slice(word.begin, word.end)}${letter}${behind}`)) return;
    const end = mark.index + 1;
    const next = nextToken === '' ? end : end + behind.length - nextToken.length;
    ends.push({ end, next });
  };
  for (const match of text.matchAll(PERHAPS_END)) {
    const begin = beginOfWord(text, word.end, match.index) ?? word.begin;
    // With several marks in a word the last counts; a mark at the start of the word counts, too.
    if (word.end <= begin) judge();
    mark = match;
    word = { begin, end: match.index };
  }
  judge();
  return ends;
}

/** Start of the word: after the last blank, if there is one after `from`. */
function beginOfWord(text: string, from: number, end: number): number | undefined {
  for (let begin = end; begin > from + 1; begin -= 1) {
    if (/\s/u.test(text.charAt(begin - 1))) return begin;
  }
  return undefined;
}

/** True if a sentence ends here. @param context A word, its mark, and the following text. */
function isEnd(context: string): boolean {
  const tokens = context.split('\n').flatMap((line) => line.match(TOKENS) ?? []);
  return tokens.some((token, i) => {
    const next = tokens[i + 1];
    return next !== undefined && isLast(token, next);
  });
}

function isLast(token: string, next: string): boolean {
  if (token === '.' || token === '?' || token === '!') return true;
  if (!token.endsWith('.') || token.endsWith('..')) return false;
  const isInitial = INITIAL.test(token);
  if (!isInitial && !NUMBER.test(token)) return true;
  const isContinued = /^[;:,.!?]$|^\p{Lowercase}/u.test(next);
  return !isContinued && !(isInitial && /^\p{Uppercase}/u.test(next));
}
