import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { numberOfUint64 } from '../base/c-numbers.ts';
import {
  defaultTestSettings,
  SETTINGS_FIELDS,
  type SettingsField,
  type TestSettings,
} from './test-settings.ts';

/** A value as LoadGen holds it; u64, seeds and int as bigint, so that no digit is lost. */
export type ExactValue = bigint | number | boolean | string;

/** A value and its source: `default`, or a file and its line. */
export interface SourcedValue {
  readonly value: ExactValue;
  readonly source: string;
}

/**
 * LoadGen's TestSettings with all bits: a file may set a count to 2^64 - 1, which
 * {@link TestSettings} cannot hold. Starts with LoadGen's defaults.
 */
export class ExactSettings {
  readonly scenario: Scenario;
  readonly #values = new Map<SettingsField['field'], SourcedValue>();

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    const defaults = defaultTestSettings();
    for (const { field, type } of SETTINGS_FIELDS) {
      const value = defaults[field];
      const isInteger = type === 'u64' || type === 'int';
      this.#values.set(field, { value: isInteger ? BigInt(value) : value, source: 'default' });
    }
  }

  get(field: SettingsField['field']): SourcedValue {
    return this.#values.get(field) as SourcedValue;
  }

  set(field: SettingsField['field'], value: ExactValue, source: string): void {
    this.#values.set(field, { value, source });
  }

  /** An independent copy. */
  clone(): ExactSettings {
    const copy = new ExactSettings(this.scenario);
    for (const [field, { value, source }] of this.#values) copy.set(field, value, source);
    return copy;
  }

  /**
   * The settings for a run.
   * @throws MlperfError `ERR_CONFIG_INVALID` listing each count that a double cannot hold.
   */
  toTestSettings(): TestSettings {
    const problems: string[] = [];
    const entries = SETTINGS_FIELDS.map(({ field, name, type }) => {
      const { value, source } = this.get(field);
      if (type === 'seed' || typeof value !== 'bigint') return [field, value];
      const number = numberOfUint64(value);
      if (number === undefined) {
        problems.push(
          `${source}: ${name} is ${value}; from 2^53 on only numbers that a double holds can be set, ` +
            'and 18446744073709551615 (-1) for no limit',
        );
      }
      return [field, number];
    });
    if (problems.length > 0) throw configInvalid(problems.join('\n'));
    return { scenario: this.scenario, ...Object.fromEntries(entries) } as TestSettings;
  }
}
