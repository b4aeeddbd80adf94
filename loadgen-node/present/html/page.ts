import { createHash } from 'node:crypto';
import { type Html, html, trusted } from './html.ts';
import { STYLE } from './style.ts';

/** What a page may load: the one style sheet, by its hash. */
const STYLE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** What a page with a script may load beside it: modules and events from where it came from. */
export const SCRIPT_POLICY = `${STYLE_POLICY}; script-src 'self'; connect-src 'self'; img-src data:`;

/** A page of its own. */
interface PageParts {
  /** Title of the document. */
  readonly title: string;
  /** Everything below the skip link, with its own `h1`. */
  readonly body: Html;
  /** Who made it, at the foot. */
  readonly footer: string;
  /** Path of its script, of a page that is served. Default: none; the page is one file. */
  readonly script?: string;
}

/**
 * A whole HTML document. Without a script it is one file: no image, no font, nothing from the network. The policy in its head
 * lets nothing else in.
 */
export function renderPage({ title, body, footer, script }: PageParts): string {
  const policy = script === undefined ? STYLE_POLICY : SCRIPT_POLICY;
  // A browser asks for an icon of what is served, unless there is one.
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
</body>
</html>
`;
  return page.text;
}
