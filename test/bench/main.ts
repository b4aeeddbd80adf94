import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { benchEngine } from './engine.ts';
import { benchWire } from './wire/wire-bench.ts';

// `npm run bench -- VERB`: benchmarks report figures and never fail because of one.

const USAGE = `npm run bench -- engine [--count N] [--repeat N] [--largest N] [--seconds N] [--only rate,size,delay,simulated]
npm run bench -- wire [--size BYTES,...] [--outstanding N,...] [--rounds N] [--seconds N] [--warm-up N] [--streams N] [--connections N]
                      [--only longhaul,bare,c++,...] [--json FILE] [--profile FOLDER] [--sut-args "..."] [--node-flags "..."]
`;

const VERBS: Readonly<Record<string, (args: string[]) => Promise<void>>> = {
  engine: async (args) => {
    const { values } = parseArgs({
      args,
      options: {
        count: { type: 'string', default: '200000' },
        repeat: { type: 'string', default: '3' },
        largest: { type: 'string', default: '1000000' },
        seconds: { type: 'string', default: '2' },
        only: { type: 'string', default: '' },
      },
    });
    await benchEngine({
      count: Number(values.count),
      repeat: Number(values.repeat),
      largest: Number(values.largest),
      seconds: Number(values.seconds),
      only: words(values.only),
    });
  },
  wire: async (args) => {
    const { values } = parseArgs({
      args,
      options: {
        size: { type: 'string', default: '16,4096,150528,602112' },
        outstanding: { type: 'string', default: '16,256,1' },
        rounds: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '2' },
        'warm-up': { type: 'string', default: '0.7' },
        streams: { type: 'string', default: '1' },
        connections: { type: 'string', default: '1' },
        only: { type: 'string', default: '' },
        json: { type: 'string' },
        profile: { type: 'string' },
        'sut-args': { type: 'string', default: '' },
        'node-flags': { type: 'string', default: '' },
      },
    });
    await benchWire({
      sizes: words(values.size).map(Number),
      outstanding: words(values.outstanding).map(Number),
      rounds: Number(values.rounds),
      seconds: Number(values.seconds),
      warmUpS: Number(values['warm-up']),
      streams: Number(values.streams),
      connections: Number(values.connections),
      only: words(values.only),
      jsonFile: values.json,
      profileFolder: values.profile,
      sutArgs: words(values['sut-args'], ' '),
      nodeFlags: words(values['node-flags'], ' '),
    });
  },
};

function words(list: string, separator = ','): string[] {
  return list.split(separator).filter((word) => word !== '');
}

const [verb = '', ...args] = process.argv.slice(2);
const run = VERBS[verb];
if (run === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const processors = cpus();
  process.stdout.write(
    `${processors.length} x ${processors[0]?.model ?? 'unknown processor'}, Node ${process.version}, ` +
      `load ${loadavg()[0]?.toFixed(1)}\n\n`,
  );
  await run(args);
}
