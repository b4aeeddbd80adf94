import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { writeTree } from '../../scenes/host/folders.ts';
import { reportHouse, summarizeHouse } from '../../tools/house/report.ts';
import { HOUSE_RULES, type HouseRules, protocolFolders } from '../../tools/house/rules.ts';

// Goal: each rule refuses what breaks it, says where, and refuses nothing else. Method: small
// projects in a temporary folder, one offence in each, under the real layers without their
// exceptions.

const RULES: HouseRules = {
  ...{ ...HOUSE_RULES, sameNames: {}, fullFolders: {}, longVerbs: {} },
  ...{ protocolWords: {}, protocolPlaces: {} },
};

type Files = Readonly<Record<string, string>>;

/** Lines that the check prints but for the last, which counts them. */
function offencesOf(files: Files, rules: Partial<HouseRules> = {}): string[] {
  const { text } = reportHouse(writeTree(files), { ...RULES, ...rules });
  return text.trimEnd().split('\n').slice(0, -1);
}

const manyFiles = (folder: string, count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${folder}/f${i}.txt`, '']));

describe('sources in order', () => {
  const files = {
    'proto/gen/sut.ts': 'export interface Same {}\n',
    'shared/base/text.ts':
      "import type { Same } from '../../proto/gen/sut.ts';\nexport const a = 1;\n",
    'qdl/protocols/native/name.ts': "export { a as b } from '../../../shared/base/text.ts';\n",
    'qdl/index.ts': "export { b } from './protocols/native/name.ts';\n",
    'loadgen-node/run/session.ts': "import { b } from '../../qdl/index.ts';\n",
    'loadgen-node/main.ts': "await import('./cli/verbs.ts');\n",
    'loadgen-node/cli/verbs.ts': "import '../run/session.ts';\nimport 'commander';\n",
    'sut-node/server/a.ts': "import type { a } from '../../shared/base/text.ts';\n",
  };

  it('passes, and says how much was read', () => {
    expect(reportHouse(writeTree(files), RULES)).toEqual({
      text: 'imports and folders are in order: 7 files, 7 imports\n',
      offences: [],
    });
  });

  it('is read by git where there is a repository, new files too', () => {
    const root = writeTree({ ...files, '.gitignore': 'ignored\n', 'shared/ignored/a.ts': '' });
    execFileSync('git', ['init', '-q'], { cwd: root });
    expect(reportHouse(root, RULES).offences).toEqual([]);
  });
});

describe('circles of files', () => {
  it.each([
    ['import of a value', "import { b } from './b.ts';"],
    ['import of a type', "import type { b } from './b.ts';"],
    ['import over several lines', "import {\n  type b,\n} from './b.ts';"],
    ['import without a name', "import './b.ts';"],
    ['export from', "export { b } from './b.ts';"],
    ['export of everything', "export * from './b.ts';"],
    ['import while running', "await import(\n  './b.ts'\n);"],
    ['import inside a type', "type B = typeof import('./b.ts');"],
  ])('counts an %s', (_, text) => {
    const files = {
      'qdl/protocols/oip/a.ts': text,
      'qdl/protocols/oip/b.ts': "\n\nimport { a } from './a.ts';",
    };
    const line = text.split('\n').findIndex((each) => each.includes('./b.ts')) + 1;
    expect(offencesOf(files)).toEqual([
      `circle of files: 2 files import each other: qdl/protocols/oip/a.ts:${line} -> qdl/protocols/oip/b.ts:3 -> qdl/protocols/oip/a.ts; put what both need into the lower file`,
    ]);
  });

  it.each([
    ['a comment', "// import './b.ts'\n/* import './b.ts'; */"],
    ['a string', `const text = "import './b.ts'";`],
    ['a template', "const text = `\nimport './b.ts';\n`;"],
    ['a regex', "const text = /import '.\\/b.ts'/;"],
  ])('sees no import in %s', (_, text) => {
    const files = {
      'qdl/protocols/oip/a.ts': text,
      'qdl/protocols/oip/b.ts': "import { a } from './a.ts';",
    };
    expect(offencesOf(files)).toEqual([]);
  });

  it('prints the shortest way round of a larger group', () => {
    const files = {
      'qdl/protocols/oip/a.ts': "import './b.ts';",
      'qdl/protocols/oip/b.ts': "import './c.ts';",
      'qdl/protocols/oip/c.ts': "import './a.ts';\nimport './d.ts';",
      'qdl/protocols/oip/d.ts': "import './c.ts';",
    };
    expect(offencesOf(files)).toEqual([
      expect.stringContaining(
        '4 files import each other: qdl/protocols/oip/c.ts:2 -> qdl/protocols/oip/d.ts:1 -> ',
      ),
    ]);
  });
});

describe('circles of folders', () => {
  it('refuses two folders that import each other, for types too', () => {
    const files = {
      'shared/domain/a.ts': "import type { b } from '../base/b.ts';",
      'shared/base/b.ts': '',
      'shared/base/c.ts': "\nimport type { d } from '../domain/d.ts';",
      'shared/domain/d.ts': "import '../base/b.ts';",
    };
    expect(offencesOf(files)).toEqual([
      'circle of folders: 2 folders import each other: shared/base -> shared/domain (shared/base/c.ts:2 imports shared/domain/d.ts), shared/domain -> shared/base (shared/domain/a.ts:1 imports shared/base/b.ts and 1 more); let the upper one alone import',
      'import against the layers: shared/base/c.ts:2 imports shared/domain/d.ts: domain stands above base; what base needs goes to its own layer or below',
    ]);
  });

  it('takes files directly in a folder and a folder in it for two nodes', () => {
    const files = {
      'qdl/protocols/oip/a.ts': "import './node/b.ts';",
      'qdl/protocols/oip/node/b.ts': "import '../c.ts';",
      'qdl/protocols/oip/c.ts': '',
    };
    expect(offencesOf(files)).toEqual([
      'circle of folders: 2 folders import each other: qdl/protocols/oip -> qdl/protocols/oip/node (qdl/protocols/oip/a.ts:1 imports qdl/protocols/oip/node/b.ts), qdl/protocols/oip/node -> qdl/protocols/oip (qdl/protocols/oip/node/b.ts:1 imports qdl/protocols/oip/c.ts); let the upper one alone import',
    ]);
  });

  it('finds a circle far below a folder, and names the others in it', () => {
    const at = 'loadgen-node/submission/check/rules';
    const files = {
      [`${at}/a/1.ts`]: "import '../b/1.ts';",
      [`${at}/b/1.ts`]: "import '../c/1.ts';",
      [`${at}/c/1.ts`]: "import '../a/2.ts';",
      [`${at}/a/2.ts`]: '',
      [`${at}/c/2.ts`]: "import '../b/2.ts';",
      [`${at}/b/2.ts`]: '',
    };
    const [only, ...more] = offencesOf(files);
    expect(more).toEqual([]);
    expect(only).toContain(`3 folders import each other`);
    expect(only).toContain(`(all: ${at}/a, ${at}/b, ${at}/c)`);
  });
});

describe('layers', () => {
  const against = (from: string, to: string): string[] =>
    offencesOf({
      [from]: `\nimport '${'../'.repeat(from.split('/').length - 1)}${to}';`,
      [to]: '',
    });

  it.each([
    ['loadgen-node/loadgen/a.ts', 'loadgen-node/run/b.ts', 'run stands above loadgen'],
    ['loadgen-node/run/a.ts', 'loadgen-node/main.ts', 'the root of loadgen-node stands above run'],
    ['sut-node/model/a.ts', 'sut-node/server/b.ts', 'server stands above model'],
    ['qdl/dispatch/a.ts', 'qdl/protocols/native/b.ts', 'protocols/native stands above dispatch'],
    [
      'qdl/protocols/native/a.ts',
      'qdl/protocols/oip/b.ts',
      'protocols/native and protocols/oip share a layer',
    ],
    ['qdl/dispatch/a.ts', 'loadgen-node/run/b.ts', 'qdl may import proto, shared'],
    ['sut-node/model/a.ts', 'qdl/index.ts', 'sut-node may import proto, shared'],
    ['shared/base/a.ts', 'test/scenes/b.ts', 'shared may import proto'],
  ])('refuses an import of %s from %s', (from, to, reason) => {
    expect(against(from, to)).toEqual([
      expect.stringContaining(`import against the layers: ${from}:2 imports ${to}: ${reason}`),
    ]);
  });

  it.each([
    ['loadgen-node/run/a.ts', 'loadgen-node/loadgen/b.ts'],
    ['loadgen-node/main.ts', 'loadgen-node/cli/b.ts'],
    ['qdl/index.ts', 'qdl/protocols/oip/b.ts'],
    ['loadgen-node/run/a.ts', 'qdl/index.ts'],
  ])('lets %s import %s', (from, to) => {
    expect(against(from, to)).toEqual([]);
  });

  it('refuses a folder that has none, by its files of every kind', () => {
    expect(offencesOf({ 'loadgen-node/junk/a.json': '' })).toEqual([
      'folder without a layer: loadgen-node/junk has no layer (loadgen-node/junk/a.json:1): move its files into another folder, or give it a layer in LAYERS',
    ]);
  });

  it('refuses a source that stands in no folder', () => {
    expect(offencesOf({ 'shared/a.ts': '', 'shared/tsconfig.json': '{}' })).toEqual([
      'folder without a layer: shared/a.ts:1 is in no folder: move it into a folder of shared',
    ]);
  });
});

describe('the entry of the QDL', () => {
  it('is refused to other folders of LoadGen', () => {
    const files = {
      'loadgen-node/samples/a.ts': "import type { Qdl } from '../../qdl/index.ts';",
      'qdl/index.ts': '',
    };
    expect(offencesOf(files, { mayImportQdl: ['run', 'api'] })).toEqual([
      'import of the QDL: loadgen-node/samples/a.ts:1 imports qdl/index.ts: only run, api may; let one of them pass it in',
    ]);
  });

  it('is open to the entry of the package', () => {
    const files = {
      'loadgen-node/index.ts': "export { qdl } from '../qdl/index.ts';",
      'qdl/index.ts': 'export const qdl = 1;',
    };
    const entries = ['loadgen-node/index.ts'];
    expect(offencesOf(files, { mayImportQdl: ['run'], entries })).toEqual([]);
  });

  it('is, beside the list of protocols, the only file that LoadGen may import', () => {
    const files = {
      'loadgen-node/observe/a.ts': "import '../../qdl/protocols/index.ts';",
      'qdl/protocols/index.ts': '',
      'loadgen-node/run/a.ts': "import '../../qdl/protocols/oip/b.ts';",
      'qdl/protocols/oip/b.ts': '',
    };
    expect(offencesOf(files)).toEqual([
      'import of the QDL: loadgen-node/run/a.ts:1 imports qdl/protocols/oip/b.ts: only qdl/index.ts may be imported from outside',
    ]);
  });
});

describe('names of protocols', () => {
  it.each([
    ["if (name === 'oip') go();", "'oip'"],
    ['if (plan.oip === undefined) go();', 'oip'],
    ['if (isOipAddress(sut)) go();', 'isOipAddress'],
    ['go(OIP_PROTOCOL);', 'OIP_PROTOCOL'],
  ])('are refused outside its folder: %s', (text, word) => {
    expect(offencesOf({ 'loadgen-node/run/a.ts': text })).toEqual([
      `name of a protocol: loadgen-node/run/a.ts:1 names ${word}: ask a trait of the protocol, or let its folder in qdl/protocols do it`,
    ]);
  });

  it('are no part of other words, of comments and of texts', () => {
    const text = "// oip\nconst doipad = 'oip://a:1';\n";
    expect(offencesOf({ 'loadgen-node/run/a.ts': text })).toEqual([]);
  });

  it('may stand where there is a reason, as long as they do', () => {
    const files = { 'qdl/protocols/oip/a.ts': 'const oip = 1;', 'shared/base/b.ts': 'OipTensor;' };
    const rules = {
      protocolWords: { OipTensor: 'a format' },
      protocolPlaces: { 'qdl/protocols/oip/': 'its own folder' },
    };
    expect(offencesOf(files, rules)).toEqual([]);
    const protocolPlaces = { ...rules.protocolPlaces, 'shared/base/b.ts': 'keys of a file' };
    expect(offencesOf(files, { ...rules, protocolPlaces })).toEqual([
      'needless exception: PROTOCOL_PLACES still lists shared/base/b.ts, which keeps the rule now: take the row out',
    ]);
  });

  it('are those of the folders that hold the value of one', () => {
    const root = writeTree({
      'a/a-protocol.ts': '',
      'b/b.ts': '',
      'index.ts': '',
      'c/d/d-protocol.ts': '',
    });
    expect(protocolFolders(root)).toEqual(['a']);
  });

  it('do not import each other', () => {
    const files = {
      'qdl/protocols/native/a.ts': "import '../oip/b.ts';",
      'qdl/protocols/oip/b.ts': '',
    };
    expect(offencesOf(files)).toEqual([
      expect.stringMatching(/^import against the layers: .* share a layer/),
    ]);
  });
});

describe('names of exports', () => {
  it.each([
    'export const rate = 1;',
    'export function rate(): void {}',
    'export async function* rate(): void {}',
    'export abstract class rate {}',
    'export interface rate {}',
    'export type rate = string;',
    'const rate = 1;\nexport { rate };',
    'const a = 1;\nexport {\n  a as rate,\n};',
    "export { rate } from './elsewhere.ts';",
  ])('refuses one name in two folders: %s', (text) => {
    const files = {
      'qdl/protocols/oip/a.ts': text,
      'shared/base/b.ts': '\nexport const rate = 2;',
    };
    const line = text.split('\n').findIndex((each) => each.startsWith('export')) + 1;
    expect(offencesOf(files)).toEqual([
      `name of two folders: rate is exported by 2 folders (qdl/protocols/oip/a.ts:${line}, shared/base/b.ts:2): give each its own name, or keep one`,
    ]);
  });

  it.each([
    ['one folder', 'qdl/protocols/oip/node/a.ts', 'export const rate = 1;'],
    ['a default', 'qdl/protocols/native/a.ts', 'export default rate;'],
    ['the entry', 'qdl/index.ts', "export { rate } from './oip/a.ts';"],
    ['a comment', 'qdl/protocols/native/a.ts', '// export const rate = 1;'],
  ])('lets the name stand again in %s', (_, file, text) => {
    const files = { [file]: text, 'qdl/protocols/oip/b.ts': 'export const rate = 2;' };
    expect(offencesOf(files)).toEqual([]);
  });

  it('lets a name with a reason be in two folders, as long as it does', () => {
    const files = { 'qdl/protocols/oip/a.ts': 'export const rate = 1;', 'sut-node/model/b.ts': '' };
    const both = { ...files, 'sut-node/model/b.ts': 'export const rate = 1;' };
    const sameNames = { rate: 'loaded by path' };
    expect(offencesOf(both, { sameNames })).toEqual([]);
    expect(offencesOf(files, { sameNames })).toEqual([
      'needless exception: SAME_NAMES still lists rate, which keeps the rule now: take the row out',
    ]);
  });
});

describe('full folders', () => {
  it('tells folders of more than 25 files, with their reason, and refuses none', () => {
    const root = writeTree({ ...manyFiles('docs', 26), ...manyFiles('test/unit', 25) });
    const textOf = (fullFolders: HouseRules['fullFolders']): string => {
      const { text, offences } = reportHouse(root, { ...RULES, fullFolders });
      expect(offences).toEqual([]);
      return text;
    };
    expect(textOf({})).toContain('note: docs holds 26 files: are they one subject?\n');
    expect(textOf({})).not.toContain('test/unit');
    expect(textOf({ docs: 'a page for each' })).toContain(
      'note: docs holds 26 files: a page for each\n',
    );
  });

  it('does not count generated and recorded files', () => {
    expect(
      offencesOf({ ...manyFiles('proto/gen/a', 61), ...manyFiles('test/golden', 61) }),
    ).toEqual([]);
  });
});

describe('verbs', () => {
  const lines = (count: number): string => 'a;\n'.repeat(count);

  it('refuses a file of more than 80 lines', () => {
    const files = {
      'loadgen-node/cli/run.ts': lines(81),
      'loadgen-node/cli/name.ts': lines(80),
      'loadgen-node/cli/verbs.ts': lines(200),
    };
    expect(offencesOf(files)).toEqual([
      'long verb: loadgen-node/cli/run.ts has 81 lines, 80 at most: flags, one call, print; move the rest to a lower folder',
    ]);
    const longVerbs = { 'loadgen-node/cli/run.ts': 'a reason' };
    expect(offencesOf(files, { longVerbs })).toEqual([]);
  });
});

describe('comments', () => {
  const wide = 'x'.repeat(98);

  it('end at column 100; tables, literals and code may be wider', () => {
    const table = `/**\n * | ${wide} |\n */\n`;
    const literal = `export const a = '${wide}';\nexport const b = \`\n// ${wide}\n\`;\n`;
    const files = { 'shared/base/a.ts': table + literal, 'shared/base/b.ts': `// ${wide}\n` };
    expect(offencesOf(files)).toEqual([
      'wide comment: shared/base/b.ts:1 is a comment above 100 columns: break the line',
    ]);
  });
});

describe('the summary', () => {
  it('counts offences by kind and names the largest', () => {
    const root = writeTree({
      'qdl/protocols/oip/a.ts': "import './b.ts';",
      'qdl/protocols/oip/b.ts': "import './a.ts';",
      'loadgen-node/cli/run.ts': 'a;\n'.repeat(90),
    });
    const summary = summarizeHouse(root, RULES);
    expect(summary).toMatch(/^circle of files +1$/m);
    expect(summary).toMatch(/^files in circles +2$/m);
    expect(summary).toMatch(/^circles of folders by depth +none$/m);
    expect(summary).toMatch(/^largest folders +qdl\/protocols\/oip 2, loadgen-node\/cli 1$/m);
    expect(summary).toMatch(/over 80 lines +1 of 1; longest loadgen-node\/cli\/run\.ts 90$/m);
  });
});
