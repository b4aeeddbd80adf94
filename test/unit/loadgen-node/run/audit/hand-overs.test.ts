import { expect, it } from 'vitest';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { handOverTexts } from '../../../../../loadgen-node/run/audit/hand-overs.ts';
import { protocolNamed } from '../../../../../qdl/protocols/index.ts';
import { auditFacts, nodeEvidence } from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: a reader learns of every connection that another one took over from. Method: the facts of a
// run, with such ends.

it('connections and streams that ended at no cost of a sample are evidence, and break no rule', () => {
  const handOvers = {
    connectionCount: 3,
    callCount: 1,
    streamCount: 1,
    connectionReason: 'the server is closing the connection (max_age)',
    streamReason: 'INTERNAL: the server reset the call (PROTOCOL_ERROR)',
  };
  const ended = { ...nodeEvidence('sut-a'), handOvers };
  const found = composeAudit(auditFacts([ended])).rules.find(
    ({ id }) => id === 'all-queries-cross',
  );
  expect(found?.verdict).toBe('holds');
  expect(found?.evidence.filter((line) => line.includes(' ended '))).toEqual([
    expect.stringMatching(
      /^sut-a\.example:50051 ended 3 connections in mid-run \(the last: .*max_age\)\), and others took over: no sample was lost, and the time that it took is in the latencies\. 1 unprocessed request went out again\. .*keepalive_requests/,
    ),
    expect.stringMatching(
      / ended 1 stream in mid-run with nothing outstanding \(INTERNAL.*\), and another one took over: .*grpc_read_timeout/,
    ),
  ]);
  expect(handOverTexts(ended, protocolNamed('oip'))[1]).toMatch(
    /--oip-method unary keeps no idle stream$/,
  );
});
