import type { Page } from 'playwright-core';
import { until } from '../../support/process.ts';

/** The YAML editor with this label, used as a person would: its visible lines, and pasting over everything. */
export function yamlEditor(page: Page, label: string) {
  const content = page.getByRole('textbox', { name: label });
  // As a string: the tests are compiled without the types of the browser.
  const inPage = async (expression: string): Promise<unknown> => {
    await content.waitFor();
    return page.evaluate(
      `((content) => ${expression})(document.querySelector('[aria-label=${JSON.stringify(label)}]'))`,
    );
  };
  return {
    content,
    /** Short documents are drawn in full, so that the visible lines are the document. */
    text: async (): Promise<string> => {
      await content.waitFor();
      return (await content.locator('.cm-line').allTextContents()).join('\n');
    },
    /** Again if the editor had not noticed the selection yet, so that the text was added to what was there. */
    fill: async (text: string): Promise<void> => {
      const beginning = text.split('\n').slice(0, 20).join('\n');
      await until('the editor has the text', async () => {
        await content.press('ControlOrMeta+a');
        await inPage(`{
          const clipboardData = new DataTransfer();
          clipboardData.setData('text/plain', ${JSON.stringify(text)});
          content.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
        }`);
        return (await content.locator('.cm-line').allTextContents()).join('\n').startsWith(beginning);
      });
    },
    caretLine: async (): Promise<number> =>
      Number(
        await inPage(
          `[...content.querySelectorAll('.cm-line')].findIndex((one) => one.contains(getSelection().anchorNode)) + 1`,
        ),
      ),
  };
}
