import { expect, it } from 'vitest';
import { lossReason } from '../../../../shared/security/connection-errors.ts';

// Goal: the end of a connection has one text, whichever client saw it. Method: the words of each.

it.each([
  ['read ECONNRESET', /closed or reset by the other end/],
  ['Connection dropped: the server closed it', /closed or reset by the other end/],
  ['Connection dropped: no answer to a ping within 20 ms', /lost \(no answer to a ping/],
  ['Connection dropped', /closed, reset, or no answer to a ping/],
  ['GOAWAY too_many_pings', /^GOAWAY too_many_pings$/],
])('%s', (details, words) => {
  expect(lossReason(details)).toMatch(words);
});
