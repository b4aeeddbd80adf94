import { expect, it } from 'vitest';
import { settingsAsText } from '../../../../shared/evidence/settings-text.ts';

// Goal: every setting is told by name, and no secret is. Method: one table of each kind of value.
it('tells every setting by name, and of a secret only that it is set', () => {
  const settings = {
    nodes: ['a:1', 'b:2'],
    streams: 4,
    model: undefined,
    encoding: { form: 'jpeg', compression: 'identity' },
    answers: [{ form: 'raw' }],
    weights: [],
    bearerToken: 'hunter2',
    tokenFile: '/home/me/hunter2',
    tokenLatencies: true,
    delay: { tokens: { count: 3 }, firstTokenNs: 5 },
    tls: { ca: Buffer.from('certificate'), password: 'hunter2', clientToken: undefined },
  };
  expect(settingsAsText(settings)).toEqual({
    nodes: 'a:1,b:2',
    streams: '4',
    model: '',
    'encoding.form': 'jpeg',
    'encoding.compression': 'identity',
    'answers.0.form': 'raw',
    weights: '',
    bearerToken: '(set)',
    tokenFile: '(set)',
    tokenLatencies: 'true',
    'delay.tokens.count': '3',
    'delay.firstTokenNs': '5',
    'tls.ca': '(11 bytes)',
    'tls.password': '(set)',
    'tls.clientToken': '',
  });
});
