import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian and others have it: the program itself, not the script around it. */
const PLACES = [
  process.env['CHROMIUM'] ?? '',
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
];

const program = PLACES.find((path) => path !== '' && existsSync(path));

/** Why there is no browser to test with; undefined where there is one. */
export const whyNoChromium: string | undefined =
  program === undefined ? 'no chromium here: apt-get install chromium, or set CHROMIUM' : undefined;

/** A headless browser; the caller closes it. */
export function launchChromium(): Promise<Browser> {
  if (program === undefined) throw new Error(whyNoChromium);
  return chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/**
 * A page, and all that a browser complains of: errors on the console, exceptions, breaches of the
 * content policy.
 */
export interface WatchedPage {
  readonly page: Page;
  /** In the order in which they came. */
  readonly complaints: readonly string[];
  /** Requests that left for another place than the page's own. */
  readonly foreignRequests: readonly string[];
}

/** Opens a page that is watched. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreignRequests: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const { origin } = new URL(url);
  page.on('request', (request) => {
    const to = request.url();
    if (!to.startsWith('data:') && new URL(to).origin !== origin) foreignRequests.push(to);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI}`);
    });
  });
  await page.goto(url);
  return { page, complaints, foreignRequests };
}
