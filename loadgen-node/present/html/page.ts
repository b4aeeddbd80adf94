import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { type Html, html, trusted } from './html.ts';

/**
 * The style sheet of all pages. Print is always light: dark colours apply only to `screen`. Colours
 * of lines and areas also differ in lightness, so that they work in greyscale.
 */
const STYLE = `
:root {
  --page: #ffffff; --panel: #f6f7f9; --line: #c9ced6; --grid: #e4e7ec; --text: #16191f; --muted: #545c69;
  --accent: #1d5fbf; --good: #0d6b3a; --bad: #b3261e; --warn: #8a5300; --warn-panel: #fff6e5;
  --s1: #1d5fbf; --s2: #d1600f; --s3: #6b7280; --s4: #8a2fb0; --s5: #0d8a6a; --s6: #a3154a;
  --p-dispatch: #8c2d04; --p-send: #fdae6b; --p-network: #737b87; --p-receive: #c6dbef; --p-queue: #08519c;
  --p-batch: #41b6c4; --p-preprocess: #e6ab02; --p-compute: #1b7837; --p-postprocess: #a6dba0; --p-reply: #762a83;
  --p-decode: #f1a7cf;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #12151a; --panel: #1b2027; --line: #434b57; --grid: #2a313b; --text: #e8eaee; --muted: #a5adb9;
    --accent: #6ea8ff; --good: #5fd08f; --bad: #ff8a80; --warn: #ffc766; --warn-panel: #2b2415;
    --s1: #6ea8ff; --s2: #ff9d57; --s3: #9aa3b0; --s4: #d08cf0; --s5: #4fd1ae; --s6: #ff7ba6;
    --p-dispatch: #d9774a; --p-send: #fdc38d; --p-network: #9aa3b0; --p-receive: #dbeafe; --p-queue: #4f83e0;
    --p-batch: #5fd0dc; --p-preprocess: #f0c33c; --p-compute: #3fae5f; --p-postprocess: #c2ecbd; --p-reply: #b57edc;
    --p-decode: #f7bfdd;
  }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
a { color: var(--accent); }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.2rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.6rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }
h3 { font-size: 1rem; margin: 0 0 0.3rem; }
p { margin: 0.4rem 0; max-width: 60rem; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--page); padding: 0.4rem 0.8rem; border: 2px solid var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.kicker { color: var(--muted); margin: 0; overflow-wrap: anywhere; }
.notes { background: var(--warn-panel); border-left: 0.3rem solid var(--warn); padding: 0.5rem 1rem; margin: 1rem 0; }
.notes ul, .plain { margin: 0.2rem 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
.reasons { list-style: none; padding: 0; margin: 0.6rem 0; max-width: 60rem; } .reasons > li { border-left: 0.3rem solid var(--bad); padding: 0.2rem 0 0.2rem 0.8rem; margin: 0.5rem 0; break-inside: avoid; overflow-wrap: anywhere; }
.reasons dl { display: flex; flex-wrap: wrap; gap: 0.2rem 1.5rem; margin: 0.2rem 0 0; } .reasons dt { color: var(--muted); font-size: 0.85rem; } .reasons dd { margin: 0; }
.verdict { font-size: 1.15rem; margin: 1rem 0 0.4rem; }
.badge { display: inline-block; padding: 0.1rem 0.7rem; border-radius: 0.3rem; border: 2px solid currentColor; font-weight: 700; }
.nowrap { white-space: nowrap; } .quiet { color: var(--muted); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 0.6rem; margin: 1rem 0; padding: 0; }
.tiles > div { background: var(--panel); border: 1px solid var(--grid); border-radius: 0.4rem; padding: 0.5rem 0.8rem; }
.tiles dt { color: var(--muted); font-size: 0.85rem; }
.tiles dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tiles .bad dd { color: var(--bad); font-weight: 700; }
.tiles.head { grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); } .tiles.head dd { font-size: 1.8rem; line-height: 1.3; } .tiles.head .good dd { color: var(--good); }
.cautions { background: var(--warn-panel); border-left: 0.3rem solid var(--warn); padding: 0.3rem 1rem; margin: 0.6rem 0; }
.tiles .bad small { font-weight: 400; }
.tiles small { display: block; color: var(--muted); font-size: 0.8rem; }
.scroll + .charts { margin-top: 1rem; } .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); gap: 1rem; }
figure { position: relative; margin: 0; padding: 0.8rem; background: var(--panel); border: 1px solid var(--grid); border-radius: 0.4rem; min-width: 0; }
figcaption { color: var(--muted); font-size: 0.85rem; margin-top: 0.3rem; overflow-wrap: anywhere; }
.wide { grid-column: 1 / -1; } figure.wide { max-width: 48rem; } figure.wide:has([data-hover]) { max-width: 60rem; } .short { align-self: start; }
svg:not(.window) { display: block; width: 100%; height: auto; } .roomy { overflow-x: auto; } .roomy svg { min-width: 32rem; }
svg text { font-size: 12px; fill: var(--text); font-family: inherit; font-variant-numeric: tabular-nums; }
svg .axis { fill: var(--muted); } svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--grid); stroke-width: 1; } svg .frame { stroke: var(--line); stroke-width: 1; }
svg .bound { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 5 3; } svg .bound-text { fill: var(--bad); }
svg .bound-text, svg .flag + text, svg .marks text { paint-order: stroke; stroke: var(--panel); stroke-width: 3px; stroke-linejoin: round; }
svg .series { fill: none; stroke-width: 1.8; stroke-linejoin: round; } svg .hover { fill: transparent; }
svg .hover:hover { fill: var(--text); fill-opacity: 0.09; }
svg .band { fill: var(--c); fill-opacity: 0.16; } svg .ring { fill: none; stroke: var(--c); stroke-width: 1.5; }
svg .hollow { fill: var(--panel); stroke: var(--c); stroke-width: 1.6; } svg .flag { stroke: var(--muted); stroke-dasharray: 2 3; }
svg .window { overflow: visible; } svg .window path { vector-effect: non-scaling-stroke; } .zoomed .window { overflow: hidden; } .zoomed .rows, .zoomed .columns, .zoomed .marks { display: none; }
svg[data-hover]:focus:not(:focus-visible) { outline: none; } svg[data-hover] { touch-action: pan-y; user-select: none; -webkit-user-select: none; } svg .cursor { stroke: var(--text); stroke-width: 1; fill: none; pointer-events: none; }
.tip { position: absolute; z-index: 1; pointer-events: none; display: flex; flex-direction: column; max-width: 70%; padding: 0.3rem 0.6rem; font-size: 0.8rem; line-height: 1.35; font-variant-numeric: tabular-nums; background: var(--page); border: 1px solid var(--line); border-radius: 0.3rem; overflow-wrap: anywhere; }
.tip[hidden], .whole[hidden] { display: none; } .whole { position: absolute; right: 0.6rem; top: 0.5rem; font: inherit; font-size: 0.8rem; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 0.3rem; cursor: pointer; }
.c0 { --c: var(--muted); } .c1 { --c: var(--s1); } .c2 { --c: var(--s2); } .c3 { --c: var(--s3); } .c4 { --c: var(--s4); } .c5 { --c: var(--s5); } .c6 { --c: var(--s6); } .c7 { --c: var(--bad); }
.part-dispatch { --c: var(--p-dispatch); } .part-send { --c: var(--p-send); } .part-network { --c: var(--p-network); }
.part-receive { --c: var(--p-receive); } .part-queue { --c: var(--p-queue); } .part-batch { --c: var(--p-batch); }
.part-preprocess { --c: var(--p-preprocess); } .part-compute, .part-prompt { --c: var(--p-compute); }
.part-postprocess { --c: var(--p-postprocess); } .part-reply { --c: var(--p-reply); } .part-decode { --c: var(--p-decode); }
svg .series, svg .mark { stroke: var(--c); } svg .fill { fill: var(--c); } svg .edge { stroke: var(--panel); stroke-width: 0.6; }
svg .dash2 { stroke-dasharray: 7 3; } svg .dash3 { stroke-dasharray: 2 2.5; } svg .dash4 { stroke-dasharray: 9 3 2 3; }
svg .heat { fill: var(--accent); } svg .heat-edge { fill: none; stroke: var(--line); } svg .failed { fill: var(--warn-panel); stroke: var(--warn); }
svg .on-strong { fill: #ffffff; } svg .on-medium { fill: #0b0e13; } svg .small { font-size: 10.5px; } svg .muted { fill: var(--muted); } svg .big { font-size: 14px; font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 0.15rem 1rem; margin: 0 0 0.3rem; padding: 0; list-style: none; font-size: 0.85rem; }
.legend svg { display: inline-block; width: 1.6rem; height: 0.8rem; margin-right: 0.35rem; vertical-align: -0.05rem; }
.scroll { overflow-x: auto; } .tall { max-height: 26rem; overflow-y: auto; } .tall table { width: 100%; } .tall th { position: sticky; top: 0; background: var(--page); }
.lines { max-height: 9.5rem; font-size: 0.8rem; overflow-y: auto; gap: 0.25rem; padding: 0.15rem; }
.lines button { font: inherit; font-variant-numeric: tabular-nums; color: inherit; background: none; border: 1px solid var(--line); border-radius: 0.3rem; padding: 0 0.4rem; cursor: pointer; }
.lines [aria-pressed="false"] { opacity: 0.65; text-decoration: line-through; }
.live { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
progress { width: 100%; height: 0.6rem; accent-color: var(--accent); }
table { color: var(--text); border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.7rem 0.25rem 0; border-bottom: 1px solid var(--grid); overflow-wrap: break-word; }
th { font-weight: 600; } td.n, th.n { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.settings td:nth-child(2), code { font-family: ui-monospace, "Liberation Mono", Menlo, monospace; font-size: 0.85rem; overflow-wrap: break-word; }
.settings td { overflow-wrap: anywhere; }
details { margin: 0.4rem 0; } summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 2rem; border-top: 1px solid var(--line); padding-top: 0.5rem; color: var(--muted); font-size: 0.85rem; }
@media screen and (prefers-color-scheme: dark) { svg .on-strong { fill: #0b0e13; } }
@media (min-width: 50rem) { .wide svg[data-hover] text { font-size: 7.5px; } }
@media (max-width: 34rem) {
  body { padding: 0.6rem; } figure { padding: 0.4rem; } svg text { font-size: 13.5px; } svg .small { font-size: 12px; }
  .settings tr { display: block; border-bottom: 1px solid var(--grid); padding: 0.3rem 0; } .settings td { display: block; border: 0; padding: 0; }
  .settings thead { display: none; } .cells td:last-child { min-width: 15rem; }
}
@page { size: A4; margin: 14mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; } .skip, details:not([open]) { display: none; }
  figure, tr, .notes, .tiles > div { break-inside: avoid; } h2, h3 { break-after: avoid; }
  table { font-size: 8pt; } td code { font-size: 7.5pt; } th, td { padding-right: 0.4rem; } th.n { white-space: normal; } .tip, .whole { display: none; } .scroll, .roomy { overflow: visible; } .roomy svg { min-width: 0; }
  .charts { display: block; } .charts > figure { margin-bottom: 5mm; } .charts figure:not(.wide) { width: 150mm; } .charts > .scroll { margin-bottom: 5mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

/**
 * Style rules for a standalone picture: light colours, and no CSS variables, which few programs
 * besides browsers support.
 */
export function pictureStyle(): string {
  const light = STYLE.slice(0, STYLE.indexOf('@media'));
  const colours = new Map(
    [...light.matchAll(/(--[\w-]+): (#\w+)/g)].map(([, name, colour]) => [name, colour]),
  );
  const series = [...STYLE.matchAll(/\.(c\d) \{ --c: (var\(--\w+\)); \}/g)];
  const rules = [...STYLE.matchAll(/^svg[ .](?!\{).*$/gm)].flatMap(([line]) =>
    line.split(/(?<=\}) /).map((rule) => rule.replaceAll('svg ', '')),
  );
  return rules
    .flatMap((rule) =>
      rule.includes('var(--c)')
        ? series.map(([, name, colour]) =>
            rule
              .replace(/\.[\w-]+(?=[ ,])/g, `$&.${name}`)
              .replaceAll('var(--c)', colour as string),
          )
        : [rule],
    )
    .map((rule) => rule.replaceAll(/var\((--[\w-]+)\)/g, (_, name) => colours.get(name) ?? 'none'))
    .join('\n');
}

/** Policy of a page without a script: it loads the one style sheet, by its hash. */
const STYLE_POLICY = `default-src 'none'; style-src '${hashOf(STYLE)}'; base-uri 'none'; form-action 'none'`;

/** Policy of a page with a script: also modules and events from its own origin. */
export const SCRIPT_POLICY = `${STYLE_POLICY}; script-src 'self'; connect-src 'self'; img-src data:`;

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const CHART_SCRIPT = 'loadgen-node/present/live/page/report-charts.js';

/**
 * The script of a page opened from disk, embedded, and allowed in the page's policy by its hash.
 */
function inlineScript(body: Html): { policy: string; element: Html } | null {
  if (!body.text.includes(' data-hover="')) return null;
  const script = readFileSync(compiledModule(CHART_SCRIPT), 'utf8')
    .replace(/^export \{\};$/m, '')
    .replace(/^\/\/# sourceMappingURL=.*$/m, '');
  const element = html`<script type="module">${trusted(script)}</script>\n`;
  return { policy: `${STYLE_POLICY}; script-src '${hashOf(script)}'`, element };
}

/**
 * A whole HTML document. Without a server's script it is one file that loads no image, font or
 * other file; the script for hovering is embedded. The content security policy in its head forbids
 * all other sources.
 */
export function renderPage({
  title,
  body,
  footer,
  script,
}: {
  readonly title: string;
  readonly body: Html;
  readonly footer: string;
  readonly script?: string;
}): string {
  const inline = script === undefined ? inlineScript(body) : null;
  const policy = script === undefined ? (inline?.policy ?? STYLE_POLICY) : SCRIPT_POLICY;
  // Otherwise a browser requests an icon from the server.
  const served = html`<link rel="icon" href="data:,">\n<script type="module" src="${script ?? ''}"></script>\n`;
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
${script === undefined ? null : served}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<main id="content" tabindex="-1">
${body}
</main>
<footer><p>${footer}</p></footer>
${inline === null ? null : inline.element}</body>
</html>
`;
  return page.text;
}
