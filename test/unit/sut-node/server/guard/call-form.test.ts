import { expect, it } from 'vitest';
import { formFault } from '../../../../../sut-node/server/guard/call-gate.ts';

// Goal: headers that gRPC does not allow are refused, and all that it allows are taken.

const RIGHT = { ':method': 'POST', 'content-type': 'application/grpc' };

function faultOf(headers: Record<string, string>, raw: Record<string, string>[] = [headers]) {
  const rawHeaders = raw.flatMap((fields) => Object.entries(fields).flat());
  return formFault({ headers, rawHeaders });
}

it.each([
  {},
  { 'content-type': 'application/grpc+proto' },
  { 'content-type': 'application/grpc;charset=utf-8' },
  { 'grpc-timeout': '0n' },
  { 'grpc-timeout': '99999999H' },
])('takes a call with %j', (fields) => {
  expect(faultOf({ ...RIGHT, ...fields })).toBeUndefined();
});

it.each([
  [{ ':method': 'GET' }, 405, 'the method of a gRPC call is POST, not GET'],
  [{ 'content-type': 'text/html' }, 415, /is application\/grpc; this one is text\/html/],
  [{ 'content-type': 'application/grpc-web' }, 415, /this one is application\/grpc-web/],
  [{ 'grpc-timeout': '99999999999H' }, 400, /1 to 8 digits .* not "99999999999H"/],
  [{ 'grpc-timeout': '5S, 6S' }, 400, /not "5S, 6S"/],
])('refuses a call with %j', (fields, httpStatus, details) => {
  const fault = faultOf({ ...RIGHT, ...fields });
  expect(fault).toMatchObject({ code: 13, httpStatus });
  expect(fault?.details).toMatch(details);
});

it('refuses a second content-type, of which node:http2 shows the first alone', () => {
  const fault = faultOf(RIGHT, [RIGHT, { 'content-type': 'text/html' }]);
  expect(fault).toMatchObject({ httpStatus: 415 });
});

it('refuses a call without a content-type', () => {
  expect(faultOf({ ':method': 'POST' })).toMatchObject({ httpStatus: 415 });
});
