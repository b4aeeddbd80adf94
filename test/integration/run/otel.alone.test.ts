import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { RecordsReader } from '../../../loadgen-node/observe/records/records-reader.ts';
import { readSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, type Said } from '../../scenes/host/processes.ts';
import { fakeOipServers } from '../../scenes/oip-server/fake-oip-server.ts';

// Goal: --otel exports the run and its sampled queries as spans with the times of the records, and
// a server of another make gets the ids of those spans, so that its own join them. Method: the
// program between a server of the Open Inference Protocol and a receiver of OTLP, both real servers
// in this process.

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly links: readonly { readonly traceId: string }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: Pick<OtlpSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Servers and variables of the running test. */
const receivers: Server[] = [];
const VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_SERVICE_NAME',
] as const;

afterEach(() => {
  for (const server of receivers.splice(0)) server.close();
  for (const name of VARIABLES) delete process.env[name];
});

/** A receiver of OTLP over HTTP. */
async function receiver() {
  const got: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receivers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

/** A run of 1 s in the open division. */
async function run(address: string, flags: readonly string[]): Promise<Said & { output: string }> {
  const output = suiteFolder();
  const said = await longhaulHere([
    ...['run', '--sut', `oip://${address}`, '--model', 'echo', '--data', 'random'],
    ...['--data-count', '16', '--scenario', 'Server', '--target-qps', '200'],
    ...['--target-latency', '500ms', '--min-duration', '1s', '--report', 'none'],
    ...['--output', output, ...flags],
  ]);
  return { ...said, output };
}

function attribute({ attributes }: Pick<OtlpSpan, 'attributes'>, name: string) {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? Number(value?.intValue);
}

describe('run --otel', () => {
  it('exports the run and its sampled queries, whose calls carry the ids of their spans', async () => {
    const [server] = await fakeOipServers({});
    const { url, got } = await receiver();
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url;
    process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'http/json';
    process.env['OTEL_SERVICE_NAME'] = 'bench';
    const flags = ['--division', 'open', '--otel', '--otel-sample', '20'];
    const { output, stdout, stderr } = await run(server?.address ?? '', flags);
    expect(got.map(({ path }) => path)).toEqual(['/v1/traces']);
    const { resourceSpans } = JSON.parse(String(got[0]?.body)) as OtlpRequest;
    const [{ resource, scopeSpans } = never()] = resourceSpans;
    expect(attribute(resource, 'service.name')).toBe('bench');
    const spans = scopeSpans.flatMap((scope) => scope.spans);
    expect(stderr).toContain(`longhaul: ${spans.length} spans of the run went to ${url}/v1/traces`);

    const [ofRun] = spans.filter(({ name }) => name === 'longhaul.run');
    const queries = spans.filter(({ name }) => name === 'longhaul.query');
    const summary = readSummary(output);
    expect(attribute(ofRun ?? never(), 'longhaul.run_id')).toBe(summary?.runId);
    const mark = summary?.notes.find((note) => note.startsWith('OpenTelemetry was on: 20 %'));
    expect(mark).toContain('their calls carry traceparent');
    expect(stdout).toContain(mark);
    expect(readFileSync(join(output, 'mlperf_log_detail.txt'), 'utf8')).toContain(mark);

    const records = await recordsOf(output);
    expect(queries.length).toBeGreaterThan(records.rowCount * 0.05);
    expect(queries.length).toBeLessThan(records.rowCount * 0.5);
    for (const span of queries) {
      // One part, and one sample per query.
      const row = Number(attribute(span, 'longhaul.query.id'));
      const [scheduled, issued, sent, completed] = [
        records.scheduledNs[row],
        records.issuedNs[row],
        records.handedNs[row],
        records.completedNs[row],
      ].map(Number) as [number, number, number, number];
      expect(attribute(span, 'longhaul.query.sent_ns')).toBe(sent);
      const since = (time: string | undefined): number =>
        Number(BigInt(time ?? 0) - BigInt(span.startTimeUnixNano)) + scheduled;
      expect(since(span.endTimeUnixNano)).toBe(completed);
      expect(span.events.map(({ name, timeUnixNano }) => [name, since(timeUnixNano)])).toEqual([
        ['issued', issued],
        ['sent', sent],
      ]);
      expect(attribute(span, 'longhaul.node')).toBe(server?.address);
      expect(span.links[0]?.traceId).toBe(ofRun?.traceId);
    }

    const sent = server?.traceparents.filter((one) => one !== undefined) ?? [];
    expect(sent.sort()).toEqual(
      queries.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
    );
    expect(server?.requests.length).toBeGreaterThanOrEqual(records.rowCount);
  });

  it('exports by protobuf where nothing is said, and adds nothing to a stream of many requests', async () => {
    const [server] = await fakeOipServers({});
    const { url, got } = await receiver();
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url;
    const flags = ['--division', 'open', '--otel', '--oip-method', 'stream'];
    const { stdout } = await run(server?.address ?? '', flags);
    expect(got[0]?.headers['content-type']).toBe('application/x-protobuf');
    expect(got[0]?.body.includes('longhaul.run')).toBe(true);
    expect(stdout).toContain(
      'OpenTelemetry was on: 1 % of the queries are exported as spans; their calls carry no traceparent',
    );
    expect(server?.traceparents.every((one) => one === undefined)).toBe(true);
  });

  it('keeps the result where no receiver is there', async () => {
    const [server] = await fakeOipServers({});
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = 'http://127.0.0.1:1';
    process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500';
    const { output, stderr } = await run(server?.address ?? '', ['--division', 'open', '--otel']);
    expect(stderr).toMatch(
      /spans did not go to http:\/\/127\.0\.0\.1:1\/v1\/traces \(.*\); the result is whole/,
    );
    expect(readSummary(output)?.figures).toBeDefined();
  });

  it.each([
    ['the Network division', ['--otel'], /--otel is for --division open/],
    [
      'a share without spans',
      ['--otel-sample', '5'],
      /--otel-sample 5 has no effect without --otel/,
    ],
  ])('refuses %s before a server is asked', async (_case, flags, message) => {
    const [server] = await fakeOipServers({});
    const { code, stderr } = await run(server?.address ?? '', flags);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(server?.nameCount).toBe(0);
  });

  it('refuses a protocol that it has no exporter for', async () => {
    const [server] = await fakeOipServers({});
    process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'grpc';
    const { code, stderr } = await run(server?.address ?? '', ['--division', 'open', '--otel']);
    expect(stderr).toMatch(/OTEL_EXPORTER_OTLP_PROTOCOL=grpc: .*http\/protobuf or http\/json/);
    expect(code).toBe(2);
    expect(server?.nameCount).toBe(0);
  });
});

async function recordsOf(output: string) {
  const reader = await RecordsReader.open(join(output, 'longhaul_records.arrow'));
  try {
    return await reader.readAll([0]);
  } finally {
    await reader.close();
  }
}

function never(): never {
  throw new Error('there is none');
}
