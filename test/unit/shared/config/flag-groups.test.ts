import { describe, expect, it } from 'vitest';
import { RUN_SETTINGS } from '../../../../loadgen-node/run/plan/run-settings.ts';
import { addSettingsInGroups, createCommand } from '../../../../shared/config/command-line.ts';
import { FLAG_ALIASES, FLAG_TOPICS } from '../../../../shared/config/flag-names.ts';
import { showAllFlags } from '../../../../shared/config/help.ts';
import { text, toggle } from '../../../../shared/config/setting.ts';

// Goal: the help of a verb with many flags has those that it is about; --help-all has all, by
// topic. Method: a small table, and the names of topics and aliases against each other.

const TABLE = {
  common: text('name', 'common'),
  policy: text('name', 'of a topic'),
  own: text('name', 'own'),
  last: toggle('last'),
  odd: toggle('odd'),
};

function verb() {
  return addSettingsInGroups(createCommand('verb', 'about'), TABLE, {
    keys: ['own', 'missing'],
    heading: 'Others:',
    hidden: ['odd'],
  });
}

describe('a help', () => {
  it('has the named flags, and says where the others are', () => {
    const help = verb().helpInformation();
    expect(help).toMatch(/--own .*[\s\S]*--config .*[\s\S]*--help-all +show all 6 flags/);
    expect(help).not.toMatch(/--common|--policy|--last|Others:/);
  });

  it('has all flags below their topics where all are requested', () => {
    const command = verb();
    showAllFlags(command);
    const help = command.helpInformation();
    const places = [
      '--own',
      '--config',
      'Nodes and connections:',
      '--policy',
      'Others:',
      '--common',
    ]
      .concat('--last')
      .map((what) => help.indexOf(what));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(help).not.toMatch(/--odd|--help-all/);
  });
});

it('has a setting below one topic only', () => {
  const keys = Object.values(FLAG_TOPICS).flat();
  expect(keys).toEqual([...new Set(keys)]);
});

it('has a topic for every setting of a run', () => {
  const keys = Object.values(FLAG_TOPICS).flat();
  const without = Object.keys(RUN_SETTINGS).filter((key) => !keys.includes(key));
  expect(without).toEqual(['benchmark']);
});

it('knows one meaning of another spelling', () => {
  const names = Object.values(FLAG_ALIASES).flat();
  expect(names).toEqual([...new Set(names)]);
});
