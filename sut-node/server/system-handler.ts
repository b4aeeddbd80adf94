import { status as grpcStatus } from '@grpc/grpc-js';
import { messageOf } from '../../shared/base/errors/to-mlperf-error.ts';
import { factsToWire } from '../../shared/host/facts-on-wire.ts';
import { tuningToWire } from '../../shared/host/tuning-on-wire.ts';
import type { SutServiceHandlers } from '../../shared/wire/sut-contract.ts';
import type { MachineFacts } from './describe/machine-facts.ts';
import type { NodeFacts } from './describe/node-offer.ts';

/** Answers DescribeSystem. @param machine Undefined where the operator does not want it told. */
export function createSystemHandler(
  { name, identity: nodeIdentity }: NodeFacts,
  machine: MachineFacts | undefined,
): NonNullable<SutServiceHandlers['DescribeSystem']> {
  return (_call, callback) => {
    if (machine === undefined) {
      const details = `SUT node ${name} does not tell what machine it runs on: it was started with --system-facts withheld`;
      callback({ code: grpcStatus.PERMISSION_DENIED, details });
      return;
    }
    machine.told().then(
      (kept) => {
        if (kept !== undefined) {
          const { facts, tuning, gatheredAt } = kept;
          const wire = { facts: factsToWire(facts), tuning: tuningToWire(tuning) };
          callback(null, { name, nodeIdentity, gatheredAt, ...wire });
          return;
        }
        const details = `SUT node ${name} does not read its machine while a run is going on: ask again after it`;
        callback({ code: grpcStatus.FAILED_PRECONDITION, details });
      },
      (error: unknown) => callback({ code: grpcStatus.INTERNAL, details: messageOf(error) }),
    );
  };
}
