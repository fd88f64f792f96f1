import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { go } from './go.ts';

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
type Rules = 'all' | 'colours' | 'structure';

/** Contrast, the most expensive rule, is checked once in each theme: colours do not depend on the width. */
const looks: readonly { scheme: 'light' | 'dark'; size: typeof desktop; rules: Rules }[] = [
  { scheme: 'light', size: desktop, rules: 'all' },
  { scheme: 'dark', size: desktop, rules: 'colours' },
  { scheme: 'dark', size: phone, rules: 'structure' },
];
/** For what only a phone shows: the bar below, and tables as cards. */
const phoneColours: typeof looks = (['light', 'dark'] as const).map((scheme) => ({
  scheme,
  size: phone,
  rules: 'colours',
}));

/**
 * Accessibility violations of a page as it is. Axe is loaded into the page once and reports violations only: collecting passes took
 * more time than the checks.
 */
export async function barriers(page: Page, rules: Rules = 'all'): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(`${axe.source}; undefined`);
  const only = {
    all: '',
    colours: `runOnly: ['color-contrast'],`,
    structure: `rules: { 'color-contrast': { enabled: false } },`,
  }[rules];
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

/**
 * Accessibility violations and horizontal overflow of a page: light and dark, desktop and phone. The page is opened once. `onPhone` also
 * checks the contrast on a phone.
 */
export async function barriersAt(page: Page, at: string, onPhone = false): Promise<string[]> {
  const found: string[] = [];
  await go(page, at);
  for (const { scheme, size, rules } of onPhone ? [...looks, ...phoneColours] : looks) {
    await page.setViewportSize(size);
    await page.evaluate(`document.documentElement.setAttribute('data-mantine-color-scheme', '${scheme}')`);
    await page.evaluate(settled);
    const name = `${scheme}, ${size.width} pixels`;
    for (const barrier of await barriers(page, rules)) found.push(`${name}: ${barrier}`);
    const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (wider > 0) found.push(`${name}: ${wider} pixels wider than the screen`);
  }
  return found;
}
