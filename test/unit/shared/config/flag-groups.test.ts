import { expect, it } from 'vitest';
import { addSettingsInGroups, createCommand } from '../../../../shared/config/command-line.ts';
import { text, toggle } from '../../../../shared/config/setting.ts';

// Goal: the help of a verb with many flags begins with those that it is about.

it('puts the named flags first and the others below a heading', () => {
  const table = { common: text('name', 'common'), own: text('name', 'own'), last: toggle('last') };
  const command = addSettingsInGroups(createCommand('verb', 'about'), table, {
    keys: ['own', 'missing'],
    heading: 'Others:',
  });
  const help = command.helpInformation();
  const places = ['--own', '--config', 'Others:', '--common', '--last'].map((what) =>
    help.indexOf(what),
  );
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
});
