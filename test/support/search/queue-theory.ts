/** Queues with Poisson arrivals and one server, whose time in the system the books know. */

/** Service times of a queue: exponential, or all the same. */
export type ServiceLaw = 'M/M/1' | 'M/D/1';

/** Share of the queries that stay longer than `bound` in the system. Rates per second, times in seconds. */
export function shareAbove(
  law: ServiceLaw,
  arrivalRate: number,
  service: number,
  bound: number,
): number {
  if (arrivalRate * service >= 1) return 1;
  return law === 'M/M/1'
    ? Math.exp(-(1 / service - arrivalRate) * bound)
    : 1 - chanceToWaitAtMost(arrivalRate, service, bound - service);
}

/** Highest arrival rate at which no more than `share` of the queries stay longer than `bound`. */
export function theoreticalPeak(
  law: ServiceLaw,
  service: number,
  bound: number,
  share: number,
): number {
  let low = 0;
  let high = 1 / service;
  for (let i = 0; i < 100; i += 1) {
    const middle = (low + high) / 2;
    if (shareAbove(law, middle, service, bound) <= share) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * M/D/1: chance to wait at most `wait` before the service (Franx 2001, "A simple solution for the M/D/c waiting time distribution").
 * Erlang's formula has terms of both signs, which cancel each other's digits where the wait is many services long; here all are positive.
 */
function chanceToWaitAtMost(arrivalRate: number, service: number, wait: number): number {
  if (wait < 0) return 0;
  const k = Math.floor(wait / service) + 1;
  const waiting = cumulativeWaiting(arrivalRate * service, k);
  const rest = arrivalRate * (k * service - wait);
  let term = Math.exp(-rest);
  let sum = 0;
  for (let j = 0; j < k; j += 1) {
    sum += (waiting[k - 1 - j] as number) * term;
    term *= rest / (j + 1);
  }
  return sum;
}

/** M/D/1: chance of at most n queries that wait, for n below `count`; by flows between levels, whose terms are positive. */
function cumulativeWaiting(load: number, count: number): number[] {
  const poisson = [Math.exp(-load)];
  for (let n = 1; n <= count + 1; n += 1) {
    poisson.push(((poisson[n - 1] as number) * load) / n);
  }
  // Chance of more than n arrivals in a service, summed from its small end.
  const above = (n: number): number => {
    let term = poisson[n + 1] ?? 0;
    let sum = 0;
    for (let i = n + 2; term > 1e-18 * sum || i < n + 4; i += 1) {
      sum += term;
      term *= load / i;
    }
    return sum;
  };
  const tails = Array.from({ length: count + 1 }, (_, n) => above(n));
  const inSystem = [1 - load];
  for (let n = 0; n < count; n += 1) {
    let flow = (inSystem[0] as number) * (tails[n] as number);
    for (let i = 1; i <= n; i += 1) {
      flow += (inSystem[i] as number) * (tails[n + 1 - i] as number);
    }
    inSystem.push(flow / (poisson[0] as number));
  }
  const cumulative = [(inSystem[0] as number) + (inSystem[1] as number)];
  for (let n = 1; n < count; n += 1) {
    cumulative.push((cumulative[n - 1] as number) + (inSystem[n + 1] as number));
  }
  return cumulative;
}
