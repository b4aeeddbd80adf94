import { describe, expect, it } from 'vitest';
import {
  probedModel,
  readyMadeRun,
  takesMadeUpData,
} from '../../../../../loadgen-node/operate/probe/probed-model.ts';
import type { ProbedFacts } from '../../../../../qdl/protocols/index.ts';
import { hasBatchAxis } from '../../../../../qdl/protocols/tensors/model-inputs.ts';
import { parseConfigFile } from '../../../../../shared/config/resolve-settings.ts';
import type { OipModelFacts } from '../../../../../shared/wire/oip/request-plan.ts';

// Goal: what probe proposes says what the model is, whatever its server calls things.
// Method: facts of a model; the file read back as a configuration file, the command looked at.

function facts(of: Partial<OipModelFacts>): ProbedFacts {
  const told: OipModelFacts = {
    address: 'h:1',
    server: { name: 's', version: '', extensions: [] },
    name: 'm',
    versions: [],
    platform: '',
    inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 3] }],
    outputs: [{ name: 'y', datatype: 'INT64', shape: [-1] }],
    batchSizeMax: 8,
    isDecoupled: false,
    hasStream: true,
    hasStatistics: true,
    ...of,
  };
  return { ...told, hasBatchAxis: hasBatchAxis(told) };
}

const TARGET = {
  address: 'oip://h:1',
  connection: { tls: true, tlsCa: 'a b/ca.pem', tokenFile: undefined },
};

function runOf(of: Partial<OipModelFacts>, version = '') {
  const run = readyMadeRun('longhaul', TARGET, probedModel(facts(of), version));
  const section = parseConfigFile('run.yaml', run.config, ['run']).get('run') ?? new Map();
  return {
    ...run,
    values: Object.fromEntries([...section].map(([key, { value }]) => [key, value])),
  };
}

describe('readyMadeRun', () => {
  it('says the same in the command and in the file', () => {
    const { command, values, hasPlaceholders } = runOf({});
    expect(command).toBe(
      "longhaul run --sut oip://h:1 --tls --tls-ca 'a b/ca.pem' --model m --data random --scenario SingleStream",
    );
    expect(values).toEqual({
      sut: ['oip://h:1'],
      tls: true,
      tlsCa: 'a b/ca.pem',
      model: 'm',
      data: 'random',
      scenario: 'SingleStream',
    });
    expect(hasPlaceholders).toBe(false);
  });

  it.each([
    ['a version', 'm', '3', 'm:3', '--model m:3 '],
    ['a colon in the name', 'm:x', '', 'm:x:', '--model m:x: '],
    ['a name that looks like a number', '1e3', '', '1e3', '--model 1e3 '],
    ['a name that looks like nothing', 'null', '', 'null', '--model null '],
    ['a quote', "it's", '', "it's", "--model 'it'\\''s' "],
    ['a line of its own', 'm # a, [b', '', 'm # a, [b', "--model 'm # a, [b' "],
  ])('keeps %s', (_case, name, version, model, flag) => {
    const { command, values } = runOf({ name }, version);
    expect(values['model']).toBe(model);
    expect(command).toContain(flag);
  });

  it('has a place for each free axis of a sample, and becomes a file that is right', () => {
    const inputs = [
      { name: 'x', datatype: 'FP32', shape: [-1, 3, -1, -1] },
      { name: 'odd, name]', datatype: 'INT8', shape: [-1, -1] },
      { name: 'z', datatype: 'INT8', shape: [-1, 4] },
    ] as const;
    const { command, config, values, hasPlaceholders } = runOf({ inputs });
    expect(hasPlaceholders).toBe(true);
    expect(command).toContain("--input-shape 'x:3xNxN,odd, name]:N'");
    expect(values['inputShape']).toBeUndefined();
    const filled = config
      .replace('# inputShape', 'inputShape')
      .replaceAll(/N(?=[x\]"])|N(?=,)/g, '8');
    const read = parseConfigFile('run.yaml', filled, ['run']).get('run')?.get('inputShape');
    expect(read?.value).toEqual(['x:3x8x8', 'odd, name]:8']);
  });
});

describe('probedModel', () => {
  it('counts the bytes of a sample without the batch axis', () => {
    const { hasBatchAxis, inputBytes, outputBytes } = probedModel(facts({}), '');
    expect({ hasBatchAxis, inputBytes, outputBytes }).toEqual({
      hasBatchAxis: true,
      inputBytes: 12,
      outputBytes: 8,
    });
    const whole = probedModel(facts({ batchSizeMax: 0 }), '');
    expect(whole).toMatchObject({ hasBatchAxis: false, inputBytes: null });
  });

  it('leaves the inputs to the user where the server reports none', () => {
    const { command, config, values, hasPlaceholders } = runOf({ inputs: [], outputs: [] });
    expect(hasPlaceholders).toBe(true);
    expect(command).toContain('--input-shape NAME:DATATYPE:LENGTHS');
    expect(config).toContain('# inputShape: [NAME:DATATYPE:LENGTHS]');
    expect(values['inputShape']).toBeUndefined();
    const untold = probedModel(facts({ inputs: [], outputs: [] }), '');
    expect(untold).toMatchObject({ hasBatchAxis: false, inputBytes: null, outputBytes: null });
  });

  it('proposes nothing for a model with names that no setting can hold', () => {
    expect(takesMadeUpData(probedModel(facts({ name: 'm\n  output: /etc' }), ''))).toBe(false);
    expect(takesMadeUpData(probedModel(facts({}), ''))).toBe(true);
  });
});
