import { cpus, loadavg } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { defaultCacheFolder } from '../../shared/base/files/read-file.ts';
import { benchBatching } from './batching/batching-bench.ts';
import { benchDelay } from './delay/delay-bench.ts';
import { benchEngine } from './engine.ts';
import { benchEngines } from './engines/engines-bench.ts';
import { MIXES } from './generation/batches.ts';
import { benchGeneration } from './generation/generation-bench.ts';
import { benchPrefill } from './generation/prefill-bench.ts';
import { benchIsolation } from './isolation.ts';
import { benchLink } from './link/link-bench.ts';
import { benchMemory } from './memory/memory-bench.ts';
import { benchOip } from './oip/oip-bench.ts';
import type { NodeOptions } from './processes.ts';
import { benchRecords } from './records/records-bench.ts';
import { benchStreams } from './streams/streams-bench.ts';
import { benchSut } from './sut/sut-bench.ts';
import { benchTail } from './tail/tail-bench.ts';
import { benchWire } from './wire/wire-bench.ts';

// `npm run bench -- VERB`: benchmarks report figures and never fail because of one.

/**
 * A verb: its flags with the values that hold where nothing is said ('false': a flag without a
 * value), and what it does.
 */
interface Verb {
  readonly flags: Readonly<Record<string, string>>;
  readonly run: (value: (flag: string) => string) => Promise<void>;
}

/** Flags of every verb that starts processes of longhaul. */
const NODE_FLAGS = { profile: '', 'sut-args': '', 'node-flags': '' };

const VERBS: Readonly<Record<string, Verb>> = {
  engine: {
    flags: { count: '200000', repeat: '3', largest: '1000000', seconds: '2', only: '' },
    run: (value) =>
      benchEngine({
        count: Number(value('count')),
        repeat: Number(value('repeat')),
        largest: Number(value('largest')),
        seconds: Number(value('seconds')),
        only: words(value('only')),
      }),
  },
  wire: {
    flags: {
      size: '16,4096,150528,602112',
      outstanding: '16,256,1',
      rounds: '3',
      seconds: '2',
      'warm-up': '0.7',
      streams: '1',
      connections: '1',
      only: '',
      json: '',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchWire({
        sizes: numbers(value('size')),
        outstanding: numbers(value('outstanding')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        warmUpS: Number(value('warm-up')),
        channels: {
          streamsPerNode: Number(value('streams')),
          connectionsPerNode: Number(value('connections')),
        },
        only: words(value('only')),
        jsonFile: value('json') || undefined,
        ...nodeOptions(value),
      }),
  },
  oip: {
    flags: {
      size: '16,4096,150528,602112',
      outstanding: '16,64',
      rounds: '3',
      seconds: '2',
      'warm-up': '0.7',
      parts: 'calls,paths,model',
      only: '',
      json: '',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchOip({
        sizes: numbers(value('size')),
        outstanding: numbers(value('outstanding')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        warmUpS: Number(value('warm-up')),
        channels: { streamsPerNode: 1, connectionsPerNode: 1 },
        parts: words(value('parts')),
        only: words(value('only')),
        jsonFile: value('json') || undefined,
        ...nodeOptions(value),
      }),
  },
  delay: {
    flags: { qps: '100,1000,10000', size: '16', rounds: '3', seconds: '3', ...NODE_FLAGS },
    run: (value) =>
      benchDelay({
        qps: numbers(value('qps')),
        sizeBytes: Number(value('size')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        ...nodeOptions(value),
      }),
  },
  tail: {
    flags: {
      load: '16:3000,150528:300,150528:1000',
      rounds: '5',
      seconds: '6',
      skip: '1',
      only: '',
      tls: 'false',
      'cpp-engine': 'false',
      json: '',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchTail({
        loads: words(value('load')).map((text) => {
          const [sizeBytes = 0, queriesPerSecond = 0] = numbers(text, ':');
          return { sizeBytes, queriesPerSecond };
        }),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        skipS: Number(value('skip')),
        only: words(value('only')),
        hasTls: value('tls') === 'true',
        hasCppEngine: value('cpp-engine') === 'true',
        jsonFile: value('json') || undefined,
        ...nodeOptions(value),
      }),
  },
  engines: {
    flags: { size: '16,150528', rounds: '5', seconds: '5', 'cache-dir': '', ...NODE_FLAGS },
    run: (value) =>
      benchEngines({
        sizes: numbers(value('size')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        cacheFolder: value('cache-dir') || undefined,
        ...nodeOptions(value),
      }),
  },
  link: {
    flags: {
      rate: '1000',
      delay: '1,10',
      size: '602112',
      outstanding: '16',
      rounds: '3',
      seconds: '4',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchLink({
        rateMbit: Number(value('rate')),
        oneWayMs: numbers(value('delay')),
        sizeBytes: Number(value('size')),
        outstanding: Number(value('outstanding')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        ...nodeOptions(value),
      }),
  },
  sut: {
    flags: {
      benchmark: 'resnet50',
      model: 'standin',
      cost: '',
      encodings: '',
      batches: '1,8',
      threads: '1,2',
      rounds: '11',
      seconds: '3',
      'cache-dir': '',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchSut({
        benchmark: value('benchmark'),
        model: value('model'),
        cost: value('cost') === '' ? undefined : Number(value('cost')),
        encodings: words(value('encodings')),
        batches: numbers(value('batches')),
        threads: numbers(value('threads')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        cacheFolder: value('cache-dir') || defaultCacheFolder(),
        ...nodeOptions(value),
      }),
  },
  batching: {
    flags: {
      benchmark: 'resnet50',
      model: 'standin-int8',
      'data-dir': 'standin',
      threads: '1',
      bound: '100',
      qps: '30',
      seconds: '8',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchBatching({
        benchmark: value('benchmark'),
        model: value('model') || undefined,
        dataDir: value('data-dir') || undefined,
        threads: Number(value('threads')),
        boundMs: Number(value('bound')),
        firstQps: Number(value('qps')),
        seconds: Number(value('seconds')),
        ...nodeOptions(value),
      }),
  },
  generation: {
    flags: {
      places: '16',
      prompts: '128',
      mix: 'standin,openorca',
      layers: '4',
      width: '384',
      threads: '1',
      rounds: '3',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchGeneration({
        places: numbers(value('places')),
        prompts: Number(value('prompts')),
        mixes: MIXES.filter((mix) => words(value('mix')).includes(mix)),
        layers: Number(value('layers')),
        width: Number(value('width')),
        threads: Number(value('threads')),
        rounds: Number(value('rounds')),
        ...nodeOptions(value),
      }),
  },
  prefill: {
    flags: { tokens: '1,256,1024', qps: '6,10,12', prompts: '4000', places: '16' },
    run: (value) =>
      benchPrefill({
        promptTokensPerStep: numbers(value('tokens')),
        perS: numbers(value('qps')),
        prompts: Number(value('prompts')),
        places: Number(value('places')),
      }),
  },
  streams: {
    flags: {
      streams: '1000',
      ticks: '0,1',
      tokens: '100',
      'first-token': '100',
      token: '20',
      rounds: '3',
      seconds: '6',
      ...NODE_FLAGS,
    },
    run: (value) =>
      benchStreams({
        streams: numbers(value('streams')),
        ticksMs: numbers(value('ticks')),
        tokens: Number(value('tokens')),
        firstTokenMs: Number(value('first-token')),
        tokenMs: Number(value('token')),
        rounds: Number(value('rounds')),
        seconds: Number(value('seconds')),
        ...nodeOptions(value),
      }),
  },
  isolation: {
    flags: { rounds: '15', count: '100' },
    run: (value) =>
      benchIsolation({ rounds: Number(value('rounds')), count: Number(value('count')) }),
  },
  records: {
    flags: { count: '10000000' },
    run: (value) => benchRecords({ count: Number(value('count')) }),
  },
  memory: {
    flags: { count: '1000000', only: '', ...NODE_FLAGS },
    run: (value) =>
      benchMemory({
        count: Number(value('count')),
        only: words(value('only')),
        ...nodeOptions(value),
      }),
  },
};

function nodeOptions(value: (flag: string) => string): NodeOptions {
  return {
    profileFolder: value('profile') || undefined,
    sutArgs: words(value('sut-args'), ' '),
    nodeFlags: words(value('node-flags'), ' '),
  };
}

function numbers(list: string, separator = ','): number[] {
  return words(list, separator).map(Number);
}

function words(list: string, separator = ','): string[] {
  return list.split(separator).filter((word) => word !== '');
}

/** `npm run bench -- wire [--size 16,4096,150528,602112] ...`, one line per verb. */
function usage(): string {
  const lines = Object.entries(VERBS).map(([name, { flags }]) => {
    const shown = Object.entries(flags).map(([flag, value]) =>
      value === 'false' ? `[--${flag}]` : `[--${flag}=${value || '...'}]`,
    );
    return `npm run bench -- ${name} ${shown.join(' ')}\n`;
  });
  return lines.join('');
}

const [name = '', ...args] = process.argv.slice(2);
const verb = VERBS[name];
if (verb === undefined) {
  process.stderr.write(usage());
  process.exitCode = 2;
} else {
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(verb.flags).map(([flag, value]) => [
      flag,
      value === 'false' ? { type: 'boolean', default: false } : { type: 'string', default: value },
    ]),
  );
  const { values } = parseArgs({ args, options });
  const processors = cpus();
  process.stdout.write(
    `${processors.length} x ${processors[0]?.model ?? 'unknown processor'}, Node ${process.version}, ` +
      `load ${loadavg()[0]?.toFixed(1)}\n\n`,
  );
  await verb.run((flag) => String(values[flag]));
}
