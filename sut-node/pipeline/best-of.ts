/** Keeps a number of the best candidates, best first; of equal ones the earlier one. */
export class BestOf<Candidate extends { readonly score: number }> {
  readonly candidates: Candidate[] = [];
  /** Score that a candidate must exceed. */
  worst: number = Number.NEGATIVE_INFINITY;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  add(candidate: Candidate): void {
    const { candidates } = this;
    let place = candidates.length;
    while (place > 0 && candidate.score > (candidates[place - 1] as Candidate).score) place -= 1;
    candidates.splice(place, 0, candidate);
    if (candidates.length > this.#count) candidates.pop();
    if (candidates.length === this.#count) this.worst = (candidates.at(-1) as Candidate).score;
  }
}
