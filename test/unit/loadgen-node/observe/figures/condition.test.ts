import { describe, expect, it } from 'vitest';
import {
  parseCondition,
  readCondition,
  readThreshold,
} from '../../../../../loadgen-node/observe/figures/condition.ts';

describe('parseCondition', () => {
  it.each([
    ['p99 < 15ms', 'p99', '<', 15e6],
    ['p99<15ms', 'p99', '<', 15e6],
    ['  p99.9 <= 0.3 ms ', 'p99.9', '<=', 300_000],
    ['max != 2s', 'max', '!=', 2e9],
    ['lag_p99 < 250us', 'lag_p99', '<', 250_000],
    ['lag_p99 < 250\u00b5s', 'lag_p99', '<', 250_000],
    ['lag_p99 < 250\u03bcs', 'lag_p99', '<', 250_000],
    ['min > 10ns', 'min', '>', 10],
    ['errors == 0', 'errors', '==', 0],
    ['completed_qps >= 99.5', 'completed_qps', '>=', 99.5],
    ['overlatency <= 1%', 'overlatency', '<=', 0.01],
  ])('reads %s', (text, figure, operator, value) => {
    const seen = parseCondition(text, '--threshold');
    expect(seen).toStrictEqual({
      text: text.trim(),
      figure,
      operator,
      value: { kind: 'absolute', value },
    });
  });

  it.each([
    ['p99 > +5%', 0.05],
    ['completed_qps < -2.5%', -0.025],
    ['overlatency > +10%', 0.1],
  ])('reads %s as relative to another run', (text, share) => {
    expect(parseCondition(text, '--fail-if').value).toStrictEqual({ kind: 'relative', share });
  });

  it('begins its message with the place and the text', () => {
    const parse = (): unknown => parseCondition('p99 << 1ms', 'ci.yaml:3:17: thresholds:');
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(/^ci\.yaml:3:17: thresholds: "p99 << 1ms" compares with/),
      }),
    );
  });

  it.each([
    ['', /^must be FIGURE OPERATOR VALUE/],
    ['p99', /^must be FIGURE OPERATOR VALUE/],
    ['p99 = 5ms', /^must be FIGURE OPERATOR VALUE/],
    ['99 < 5ms', /^must be FIGURE OPERATOR VALUE/],
    ['p9 < 5ms', /^names an unknown figure "p9"; did you mean "p90"\?$/],
    ['error == 0', /did you mean "errors"\?/],
    ['complete_qps > 1', /did you mean "completed_qps"\?/],
    ['throughput > 1', /there is: min, mean, p50, .*errors$/],
    ['p99 < 15', /^compares with "15"; p99 \(.*\) needs a length of time \(ns, us, ms or s\)/],
    ['p99 < 15min', /compares with "15min"/],
    ['p99 < 15%', /compares with "15%"/],
    ['errors == 0ms', /errors \(.*\) needs a number, without a unit, for example 0$/],
    ['overlatency < 0.01', /needs a percentage, for example 1%$/],
    ['p99 < fast', /compares with "fast", which is not a value/],
    ['p99 < 1e3ms', /which is not a value/],
    ['p99 > +5ms', /a sign is for a relative value in percent, such as \+5%$/],
    ['constructor < 1', /names an unknown figure/],
    ['p99 < 1constructor', /compares with "1constructor"/],
  ])('says what is wrong with "%s"', (text, problem) => {
    expect(readCondition(text)).toMatch(problem);
  });
});

describe('readThreshold', () => {
  it('knows no other run', () => {
    expect(readThreshold('p99 > +5%')).toMatch(
      /^has a value with a sign: .*write 15ms, or compare runs with "longhaul compare --fail-if"$/,
    );
    expect(readThreshold('p99 < 5ms')).toMatchObject({ figure: 'p99' });
    expect(readThreshold('p99')).toMatch(/^must be FIGURE/);
  });
});
