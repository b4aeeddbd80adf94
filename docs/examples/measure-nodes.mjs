// @ts-check
// Measures SUT nodes, as "longhaul run" does. Start one first: longhaul sut --benchmark digits
import { createQdl, MlperfError, openSamples, startTest } from 'longhaul';

const [nodes = '127.0.0.1:50051', benchmark = 'digits', output = 'results/from-code'] =
  process.argv.slice(2);

try {
  const samples = await openSamples({ benchmark });
  const test = await startTest({
    sut: createQdl({ nodes: nodes.split(','), readyTimeout: '60s' }, samples),
    qsl: samples,
    output,
    force: true, // A second start replaces the result of the first.
    settings: {
      scenario: 'Server',
      targetQps: 200,
      minDuration: '1s',
      minQueryCount: 700, // early stopping asks for 459, and for 662 where one is late
      thresholds: ['p99 < 250ms', 'errors == 0'],
    },
    // For Ctrl-C: signal: controller.signal; process.on('SIGINT', () => controller.abort())
    onProgress: ({ completedSamples }) => console.error(`${completedSamples} samples completed`),
  });

  console.log(JSON.stringify({ result: test.result, ...test.figures }));
  for (const { text, isMet, seenText } of test.thresholds) {
    console.error(`${text}: ${isMet ? 'met' : 'NOT met'}, seen ${seenText}`);
  }
  for (const { text } of test.verdict.reasons) console.error(text);
  for (const note of test.notes) console.error(`note: ${note}`);

  // The slowest sample, from the records: a column per field, a row per sample.
  const { records } = test;
  if (records !== null) {
    const latencies = records.completedNs.map((ns, row) => ns - (records.scheduledNs[row] ?? 0));
    const slowest = latencies.indexOf(Math.max(...latencies));
    console.error(`the slowest sample was ${records.sampleIndex[slowest]} of the library`);
  }
  process.exitCode = test.result === 'VALID' && test.meetsThresholds ? 0 : 3;
} catch (error) {
  if (!(error instanceof MlperfError)) throw error;
  // Match on the code: texts may change.
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = error.code === 'ERR_SUT_UNREACHABLE' ? 4 : 1;
}
