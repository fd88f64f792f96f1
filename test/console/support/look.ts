import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { go } from './go.ts';

type Scheme = 'light' | 'dark';

/**
 * Accessibility violations of a page as it is. Axe is loaded into the page once and reports violations only: collecting passes took
 * more time than the checks.
 */
export async function barriers(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(`${axe.source}; undefined`);
  const only = rules === 'colours' ? `runOnly: ['color-contrast'],` : '';
  return (await page.evaluate(
    `axe.run(document, { ${only} resultTypes: ['violations'] })
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
 * Desktop in both themes, phone in one: the themes differ in nothing but colours, so the second theme needs only the contrast rule, and
 * what is on a phone alone is on several pages, which take turns. Contrast takes two thirds of the time.
 */
function looksOfNextPage(): readonly { scheme: Scheme; phone: boolean; rules: 'all' | 'colours' }[] {
  pages += 1;
  return [
    { scheme: 'light', phone: false, rules: 'all' },
    { scheme: 'dark', phone: false, rules: 'colours' },
    { scheme: pages % 2 === 0 ? 'light' : 'dark', phone: true, rules: 'all' },
  ];
}

/** Accessibility violations and horizontal overflow of a page, which is opened once. */
export async function barriersAt(page: Page, at: string): Promise<string[]> {
  const found: string[] = [];
  await go(page, at);
  for (const { scheme, phone, rules } of looksOfNextPage()) {
    await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1440, height: 900 });
    await page.evaluate(`document.documentElement.setAttribute('data-mantine-color-scheme', '${scheme}')`);
    await page.evaluate(settled);
    const name = `${scheme}, ${phone ? 'phone' : 'desktop'}`;
    for (const barrier of await barriers(page, rules)) found.push(`${name}: ${barrier}`);
    const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (wider > 0) found.push(`${name}: ${wider} pixels wider than the screen`);
  }
  return found;
}
