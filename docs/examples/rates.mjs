// @ts-check
// Which of some rates keep the latency bound? One QDL and one sample library serve all tests.
import { createQdl, MlperfError, openSamples, startTest } from 'longhaul';

const [
  nodes = '127.0.0.1:50051',
  benchmark = 'digits',
  rates = '100,200,400,800',
  folder = 'results/rates',
] = process.argv.slice(2);

try {
  const samples = await openSamples({ benchmark });
  const sut = createQdl({ nodes: nodes.split(',') }, samples);
  for (const targetQps of rates.split(',').map(Number)) {
    const { result, figures, verdict } = await startTest({
      sut,
      qsl: samples,
      output: `${folder}/${targetQps}`,
      force: true, // A second start replaces the result of the first.
      settings: {
        scenario: 'Server',
        targetQps,
        targetLatency: '50ms',
        minDuration: '1s',
        minQueryCount: 700,
      },
    });
    const p99 = figures.p99 === undefined ? 'unknown' : `${(figures.p99 / 1e6).toFixed(1)} ms`;
    const why = verdict.reasons.map(({ rule }) => rule).join(', ');
    console.log(`${targetQps} per second: ${result}${why && ` (${why})`}, p99 ${p99}`);
  }
} catch (error) {
  if (!(error instanceof MlperfError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = error.code === 'ERR_SUT_UNREACHABLE' ? 4 : 1;
}
