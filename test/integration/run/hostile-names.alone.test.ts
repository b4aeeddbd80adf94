import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { expect, it } from 'vitest';
import { livePanels, liveTitle } from '../../../loadgen-node/present/live/live-page.ts';
import { LiveState, type WholeState } from '../../../loadgen-node/present/live/live-state.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { asPlainText } from '../../../shared/base/text.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { LonghaulProcess, longhaulHere } from '../../scenes/host/processes.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: whatever a node, a folder and a label are called, page, events and metrics of a run stay
// what they are, and the records hold the name itself. Method: a real run and a node with hostile
// names; its servers asked while it lasts.

const MAIN = fileURLToPath(compiledModule('loadgen-node/main.js'));

/** Markup, both quotes, a backslash before n, a mark of direction. */
const HOSTILE = `sut<script>alert(1)</script>"'\\n\u202e{x="1"}`;
/** A folder, whose name may have no control characters. */
const FOLDER = `run<img src=x onerror=alert(1)>"' # HELP x`;
const LABEL = `team=<b>"q"\\ {a="1"}`;

/**
 * Values of labels by the rules of the text format: backslash, quote and n behind a backslash,
 * nothing else.
 */
const SAMPLE =
  /^[a-zA-Z_:][\w:]*(\{([a-zA-Z_]\w*="([^"\\\n]|\\["\\n])*",?)*\})? (NaN|[+-]?(Inf|[\d.]+(e[+-]?\d+)?))$/;

async function textAt(url: string, until: (text: string) => boolean): Promise<string> {
  const response = await fetch(url);
  const reader = response.body?.getReader();
  let text = '';
  while (!until(text)) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    text += Buffer.from(chunk.value).toString('utf8');
  }
  await reader?.cancel();
  return text;
}

it('a node, a folder and a label with hostile names are text on page and in metrics, and themselves in the records', async () => {
  const [{ address }] = await fakeSutNodes({
    ...{ benchmark: 'null', name: HOSTILE, says: { Opened: { nodeName: HOSTILE } } },
  });
  const output = join(tempFolder(), FOLDER);
  const run = new LonghaulProcess([
    ...[process.execPath, MAIN, 'run', '--sut', address, '--benchmark', 'null'],
    ...['--target-qps', '50', '--min-duration', '20s', '--no-extend-until-decided'],
    ...['--warm-up', '0s', '--records', 'keep', '--label', LABEL, '--output', output],
    ...['--dashboard', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0'],
  ]);
  await run.says(/performance run/);
  const [page = '', metrics = ''] = ['/', '/metrics'].map((end) =>
    run.stderr.match(/http:\/\/[\d.:]+\/\S*/g)?.find((url) => new URL(url).pathname === end),
  );
  let told = '';
  await expect
    .poll(async () => (told = await (await fetch(metrics)).text()))
    .toContain('longhaul_loadgen_node_');
  const events = await textAt(`${page}events`, (text) => text.includes('event: change'));
  const shell = await (await fetch(page)).text();
  run.kill('SIGINT');
  const { stdout, stderr } = await run.ended;

  expect(shell).not.toMatch(/onerror|alert/);
  for (const text of [told, stdout, stderr]) expect(text).toBe(asPlainText(text));
  for (const line of told.split('\n').filter((one) => one !== '' && !one.startsWith('# '))) {
    expect(line).toMatch(SAMPLE);
  }
  expect(told).toContain('alert(1)</script>\\"');
  expect(
    told.match(/^# .*/gm)?.every((line) => /^# (HELP|TYPE) (longhaul|process)_/.test(line)),
  ).toBe(true);

  // Each event is a name, one line of data, and an empty line.
  const [retry, ...chunks] = events.split('\n\n').slice(0, -1);
  expect(retry).toBe('retry: 1000');
  for (const chunk of chunks) expect(chunk).toMatch(/^event: (state|change)\ndata: [^\n]*$/);
  const state = new LiveState();
  state.load(JSON.parse((chunks[0] as string).replace(/^event: state\ndata: /, '')) as WholeState);
  const panels = Object.values(livePanels(state, 'open')).map((panel) => panel?.text ?? '');
  for (const text of panels) {
    expect(text).not.toMatch(/<(script|img|b)\b|<[^>]*onerror/);
    expect(text).toBe(asPlainText(text));
  }
  expect(panels.join('')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(liveTitle(state)).toBe(asPlainText(liveTitle(state)));
  const report = readFileSync(join(output, 'longhaul_report.html'), 'utf8');
  expect(report).not.toMatch(/<script>alert|<img src=x/);
  expect(report).toBe(asPlainText(report));

  // A file for programs, which compare what they read: it has the texts as they were given.
  const records = tableFromIPC(readFileSync(join(output, 'longhaul_records.arrow')));
  const { metadata } = records.schema;
  expect(JSON.parse(metadata.get('longhaul.nodes') ?? '')).toEqual([HOSTILE]);
  expect(JSON.parse(metadata.get('longhaul.labels') ?? '')).toEqual({ team: LABEL.slice(5) });
  expect(records.getChild('node')?.get(0)).toBe(HOSTILE);
});

it.each([
  ['an escape sequence', 'sut\u001b[31m'],
  ['two lines', 'sut\n# HELP x'],
])('a node whose name has %s is refused in plain words', async (_case, name) => {
  const [{ address }] = await fakeSutNodes({ benchmark: 'null', name });
  const { code, stdout, stderr } = await longhaulHere([
    ...['run', '--sut', address, '--benchmark', 'null', '--target-qps', '50'],
    ...['--output', join(tempFolder(), 'run')],
  ]);
  expect([code, stdout]).toEqual([4, '']);
  expect(stderr).toBe(
    `longhaul: SUT node ${address} answers Name with control characters or more than 256 characters\n`,
  );
});
