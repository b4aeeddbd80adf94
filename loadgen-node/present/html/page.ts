import { createHash } from 'node:crypto';
import { type Html, html, trusted } from './html.ts';
import { STYLE } from './style.ts';

/** A page of its own. */
export interface PageParts {
  /** Title of the document. */
  readonly title: string;
  /** Everything below the skip link, with its own `h1`. */
  readonly body: Html;
  /** Who made it, at the foot. */
  readonly footer: string;
}

/**
 * A whole HTML document in one file: no script, no image, no font, nothing from the network. The policy in its head lets
 * nothing in but the one style sheet, by its hash.
 */
export function renderPage({ title, body, footer }: PageParts): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
</head>
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
