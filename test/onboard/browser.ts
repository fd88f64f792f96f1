/** A partner's developer with a browser, who knows only the address of the link. */
import { after, type TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { buildConsole } from '../../console/build.ts';
import { browserFlags, requiredBrowser, skipWithoutBrowser } from '../../scripts/prepare-browser.ts';

export const skip = skipWithoutBrowser();

/** One for all files of the process. */
let running: Promise<Browser> | undefined;
after(async () => (await running)?.close());

export interface Look {
  readonly page: Page;
  /** Errors in the browser: exceptions, blocked styles and scripts, requests to other hosts. */
  readonly complaints: string[];
  /** The paths that it asked for. */
  readonly requested: string[];
}

/** Open until the test ends: a page looks every second. */
export async function openBrowser(
  t: TestContext,
  url: string,
  { phone = false, scheme = 'light' as 'light' | 'dark' } = {},
): Promise<Look> {
  await buildConsole();
  running ??= chromium.launch({ executablePath: requiredBrowser(), args: [...browserFlags] });
  const viewport = phone ? { width: 390, height: 844 } : { width: 1280, height: 900 };
  const context = await (await running).newContext({
    viewport,
    hasTouch: phone,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  t.after(() => context.close());
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    requested.push(new URL(request.url()).pathname);
    if (!request.url().startsWith(new URL(url).origin)) complaints.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, complaints, requested };
}
