import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { go } from './go.ts';

type Scheme = 'light' | 'dark';

/**
 * Accessibility violations of a page as it is. Axe is loaded into the page once and reports violations only: collecting passes took
 * more time than the checks.
 */
export async function barriers(page: Page, only?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(`${axe.source}; undefined`);
  return (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations']${only ? `, runOnly: ${JSON.stringify(only)}` : ''} })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200)))`,
  )) as string[];
}

/** Waits for two frames and for all transitions: halfway through one, contrast may be too low. */
const settled = `(async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(ending.map((one) => one.finished));
})()`;

let pages = 0;

/**
 * Desktop in one theme and phone in the other; pages take turns. Themes differ in nothing but colours, and all pages are made from the same
 * parts, so each part is seen in all four looks. A look takes 0.7 s (2 arm64 cores).
 */
function looksOfNextPage(): readonly { scheme: Scheme; phone: boolean }[] {
  pages += 1;
  const [first, second] = pages % 2 === 0 ? (['light', 'dark'] as const) : (['dark', 'light'] as const);
  return [
    { scheme: first, phone: false },
    { scheme: second, phone: true },
  ];
}

/** What a second look can find after a first one of the same page: everything else is the same elements in other colours and widths. */
const ofLooks = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block'];

/** Accessibility violations and horizontal overflow of a page, which is opened once. */
export async function barriersAt(page: Page, at: string): Promise<string[]> {
  const found: string[] = [];
  await go(page, at);
  for (const [place, { scheme, phone }] of looksOfNextPage().entries()) {
    await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1440, height: 900 });
    await page.evaluate(`document.documentElement.setAttribute('data-mantine-color-scheme', '${scheme}')`);
    await page.evaluate(settled);
    const name = `${scheme}, ${phone ? 'phone' : 'desktop'}`;
    for (const barrier of await barriers(page, place === 0 ? undefined : ofLooks)) found.push(`${name}: ${barrier}`);
    const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (wider > 0) found.push(`${name}: ${wider} pixels wider than the screen`);
  }
  return found;
}
