import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchEngine } from './engine.ts';

// `npm run bench -- engine`: benchmarks report figures and never fail because of one.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '200000' },
    repeat: { type: 'string', default: '3' },
    largest: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
});
if (positionals.join() !== 'engine') {
  process.stderr.write(
    'npm run bench -- engine [--count N] [--repeat N] [--largest N] [--seconds N] ' +
      '[--only rate,size,delay,simulated]\n',
  );
  process.exitCode = 2;
} else {
  const processors = cpus();
  process.stdout.write(
    `${processors.length} x ${processors[0]?.model ?? 'unknown processor'}, Node ${process.version}\n`,
  );
  await benchEngine({
    count: Number(values.count),
    repeat: Number(values.repeat),
    largest: Number(values.largest),
    seconds: Number(values.seconds),
    only: values.only === '' ? [] : values.only.split(','),
  });
}
