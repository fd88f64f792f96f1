import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const looks = [
  { scheme: 'light', phone: false, rules: 'all' },
  { scheme: 'dark', phone: false, rules: 'colours' },
  { scheme: 'dark', phone: true, rules: 'all' },
  { scheme: 'light', phone: true, rules: 'colours' },
] as const;

export async function barriers(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (rules === 'colours' ? axe.withRules(['color-contrast']) : axe).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

/** Waits for two frames and for all transitions: halfway through one, contrast may be too low. */
const settled = `(async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(ending.map((one) => one.finished));
})()`;

/**
 * Accessibility violations and horizontal overflow of a page: light and dark, desktop and phone. The page is loaded once; the
 * second theme only needs the contrast rule, because themes differ in nothing but colours.
 */
export async function barriersAt(page: Page, url: string): Promise<string[]> {
  const found: string[] = [];
  await page.goto(url);
  await page.locator('h1').first().waitFor();
  await page.getByText('Loading …').first().waitFor({ state: 'detached' });
  for (const { scheme, phone, rules } of looks) {
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
