const f32 = Math.fround;

/**
 * float32's lowest number: TensorFlow gives it to all tokens but the end behind a finished beam.
 */
const LOWEST = -3.4028234663852886e38;

/** A sentence: logarithms of the next token's probability behind the tokens so far. */
export type NextToken = (tokens: readonly number[]) => ArrayLike<number>;

/** A beam of one step, as the decoder keeps it; `tokens` is what a cell state would hold. */
interface Beam {
  readonly tokens: readonly number[];
  readonly logProbability: number;
  readonly isFinished: boolean;
  readonly length: number;
}

/** A beam of the next step: token, and place of its parent. */
interface Step {
  readonly token: number;
  readonly parent: number;
  readonly logProbability: number;
  readonly score: number;
}

const lengthPenalty = (length: number): number => f32((5 + length) / 6);

/**
 * TensorFlow's BeamSearchDecoder (tf.contrib.seq2seq 1.13) under dynamic_decode for a batch of
 * sentences, in float32, with the impossible beams that the product leaves out: all sentences go on
 * until every beam of every one is finished or `stepsMax` steps are done, then gather_tree follows
 * the parents from each sentence's longest beam.
 * @returns Tokens of the first beam of each sentence up to the end token.
 */
export function tensorflowBeams(
  sentences: readonly NextToken[],
  { size, width, endToken, stepsMax }: Record<'size' | 'width' | 'endToken' | 'stepsMax', number>,
): number[][] {
  let states = sentences.map(() =>
    Array.from({ length: width }, (_, i): Beam => {
      const logProbability = i === 0 ? 0 : Number.NEGATIVE_INFINITY;
      return { tokens: [], logProbability, isFinished: i > 0, length: 0 };
    }),
  );
  const history = sentences.map((): Step[][] => []);
  const isGoingOn = ({ isFinished }: Beam): boolean => !isFinished;
  for (let step = 0; step < stepsMax && states.some((beams) => beams.some(isGoingOn)); step += 1) {
    states = states.map((beams, which) => {
      const best = bestSteps(beams, sentences[which] as NextToken, { size, endToken, width });
      history[which]?.push(best);
      return best.map(({ parent, token, logProbability }) => {
        const { tokens, isFinished, length } = beams[parent] as Beam;
        return {
          ...{ tokens: [...tokens, token], logProbability },
          isFinished: isFinished || token === endToken,
          length: length + (isFinished ? 0 : 1),
        };
      });
    });
  }
  return states.map((beams, which) => {
    const longest = Math.max(...beams.map(({ length }) => length));
    const steps = (history[which] as Step[][]).slice(0, longest);
    const tokens: number[] = [];
    let beam = 0;
    for (const step of steps.toReversed()) {
      const { token, parent } = step[beam] as Step;
      tokens.unshift(token);
      beam = parent;
    }
    const end = tokens.indexOf(endToken);
    return end < 0 ? tokens : tokens.slice(0, end);
  });
}

function bestSteps(
  beams: readonly Beam[],
  next: NextToken,
  { size, endToken, width }: Record<'size' | 'endToken' | 'width', number>,
): Step[] {
  const all = beams.flatMap((beam, parent) => {
    const row = next(beam.tokens);
    return Array.from({ length: size }, (_, token): Step => {
      const isEnd = token === endToken;
      const masked = isEnd ? 0 : LOWEST;
      const logProbability = f32(
        beam.logProbability + (beam.isFinished ? masked : (row[token] ?? 0)),
      );
      const length = beam.length + (beam.isFinished || isEnd ? 0 : 1);
      return { parent, token, logProbability, score: f32(logProbability / lengthPenalty(length)) };
    });
  });
  // Stable: of equal scores the lower place is first, as in top_k.
  return all.sort((a, b) => (b.score === a.score ? 0 : b.score - a.score)).slice(0, width);
}
