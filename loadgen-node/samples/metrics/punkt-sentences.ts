/** The end of a sentence, perhaps: in front of a mark that is no letter, or of blanks and a word. */
const PERHAPS_END = /[.?!](?=[)";}\]*:@'({[!?]|(?:\s+(?=\S)))/gu;

/** Marks that close what the sentence before them opened. */
const CLOSING = /^["')\]}]+?(?:\s+|(?=--)|$)/mu;

const NUMBER = /^-?[.,]?\d[\d,.-]*$/u;

/**
 * The sentences of an English text as NLTK's Punkt splits them where it was not trained: it knows the marks, numbers and
 * initials, and no abbreviations.
 */
export function sentencesOfText(text: string): string[] {
  const sentences: string[] = [];
  let begin = 0;
  for (const end of sentenceEnds(text)) {
    const sentence = text.slice(begin, end);
    if (begin < end) sentences.push(sentence);
    begin = end + (/^\s+/u.exec(text.slice(end))?.[0].length ?? 0);
    const closing = CLOSING.exec(text.slice(begin))?.[0];
    if (closing === undefined) continue;
    sentences.push(`${sentences.pop() ?? ''}${text.slice(end, begin)}${closing.trimEnd()}`);
    begin += closing.length;
  }
  if (begin < text.length) sentences.push(text.slice(begin));
  return sentences;
}

/** Places behind the last letter of each sentence but the last one. Of several marks in one word the last one counts. */
function sentenceEnds(text: string): number[] {
  const ends: number[] = [];
  let lastWord = -1;
  for (const { index } of text.matchAll(PERHAPS_END)) {
    const word = beginOfWord(text, index);
    if (word === lastWord) ends.pop();
    lastWord = word;
    ends.push(index + 1);
  }
  return ends.filter((end) => isEnd(text, end));
}

function beginOfWord(text: string, index: number): number {
  let begin = index;
  while (begin > 0 && /\S/u.test(text.charAt(begin - 1))) begin -= 1;
  return begin;
}

function isEnd(text: string, end: number): boolean {
  const word = text.slice(beginOfWord(text, end), end);
  if (word === '.' || /[?!]/u.test(word)) return true;
  if (word.endsWith('..')) return false;
  const next = text.slice(end).trimStart();
  const isContinued = /^[;:,.!?\p{Ll}]/u.test(next);
  const bare = word.slice(word.search(/[^)";}\]*:@'({[,-]*$/u));
  if (NUMBER.test(bare)) return !isContinued;
  if (/^\p{L}\.$/u.test(bare)) return !isContinued && !/^\p{Lu}/u.test(next);
  return true;
}
