import { counted, formatNs, grouped, rounded } from '../../../shared/base/text.ts';
import type { LiveSnapshot } from '../../observe/live/live-snapshot.ts';
import { clock } from './figure-text.ts';

/** A piece of the line; lower ranks stay longer when the line gets narrow. */
interface Piece {
  readonly rank: number;
  readonly text: string;
}

const GAP = '  ';

/**
 * A run in one line of at most `width` characters, most important pieces first. From 40 characters
 * on it shows the time, the rate against its target and a percentile.
 */
export function statusLine(snapshot: LiveSnapshot, width: number): string {
  const pieces = piecesOf(snapshot);
  const byRank = [...pieces].sort((a, b) => a.rank - b.rank);
  const kept = new Set<Piece>();
  let length = -GAP.length;
  for (const piece of byRank) {
    const longer = length + GAP.length + piece.text.length;
    // No smaller piece takes its place: the line would change its layout every second.
    if (longer > width) break;
    kept.add(piece);
    length = longer;
  }
  return pieces
    .filter((piece) => kept.has(piece))
    .map(({ text }) => text)
    .join(GAP);
}

/** In reading order. */
function piecesOf(snapshot: LiveSnapshot): Piece[] {
  const { set, totals, outstanding, share, remainingS, decision, latency, lag } = snapshot;
  const pieces: Piece[] = [];
  const add = (rank: number, text: string): void => {
    pieces.push({ rank, text });
  };
  if (set.count > 1) add(8, `part ${set.index + 1}/${set.count} of the data set`);
  add(1, clockTime(snapshot.elapsedS));
  if (share !== null) add(7, `${Math.floor(share * 100)} %`);
  if (remainingS !== null && decision === undefined) {
    const isIssued = share === 1 && outstanding > 0;
    add(5, isIssued ? 'waiting for answers' : `ETA ${clockTime(remainingS)}`);
  }
  if (decision !== undefined) pieces.push(...decisionPieces(decision, remainingS));
  if (totals.lostSamples > 0) add(0, `${grouped(totals.lostSamples)} LOST`);
  add(2, rateText(snapshot));
  if (latency !== null) {
    add(6, `p50 ${formatNs(latency.p50Ns)}`);
    add(3, `p99 ${formatNs(latency.p99Ns)}`);
  }
  add(4, `${grouped(outstanding)} out`);
  if (lag !== null) add(9, `dispatch lag p99 ${formatNs(lag.p99Ns)}`);
  const planned = snapshot.plannedQueries === null ? '' : ` of ${grouped(snapshot.plannedQueries)}`;
  add(10, `issued ${grouped(snapshot.issuedQueriesOfSet)}${planned}`);
  add(11, `completed ${grouped(snapshot.completedSamplesOfSet)}`);
  return pieces;
}

function decisionPieces(
  { neededQueries, queries, isInTime }: NonNullable<LiveSnapshot['decision']>,
  remainingS: number | null,
): Piece[] {
  const needs = `needs ${counted(neededQueries, 'query', 'queries')}, ${grouped(queries)} are there`;
  const pieces = [{ rank: 4.5, text: needs }];
  if (remainingS === null || isInTime === null) return pieces;
  const end = isInTime ? 'decided' : 'ends undecided';
  return [{ rank: 4.4, text: `${end} in about ${clockTime(remainingS)}` }, ...pieces];
}

/** Samples complete in batches some seconds apart, so this is the mean rate since the start. */
function rateText(snapshot: LiveSnapshot): string {
  const { completedPerS, targetPerS, rateUnit, completedSamplesOfSet, elapsedS } = snapshot;
  const unit = rateUnit === 'queries' ? 'q/s' : 'samples/s';
  const target = targetPerS === null ? '' : `/${rate(targetPerS)}`;
  const isSinceStart = rateUnit === 'samples' && elapsedS > 0;
  return `${rate(isSinceStart ? completedSamplesOfSet / elapsedS : completedPerS)}${target} ${unit}`;
}

/** At most four significant digits. */
function rate(perS: number): string {
  return perS >= 1000 ? grouped(Math.round(perS)) : rounded(perS, 3);
}

/** `12 s`, `1:05`, `2:00:09`. */
function clockTime(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : clock(whole);
}
