import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

/** Which version this is, set by build.mjs; `npm run dev` shows the checkout alone. */
const version = process.env.SITE_VERSION ?? 'next';
const versions = (process.env.SITE_VERSIONS ?? version).split(',');
const base = process.env.SITE_BASE ?? '/';

const page = (text: string, link: string) => ({ text, link });
const fileOf = (link: string) => path.join(import.meta.dirname, '..', 'pages', `${link.replace(/\/$/, '/index')}.md`);

/** The sidebar is the list of the front page: a group for each task, with all its pages. */
const sidebar = readFileSync(fileOf('/'), 'utf8')
  .split('\n### ')
  .slice(1)
  .map((group) => ({
    text: group.split('\n')[0] ?? '',
    collapsed: true,
    items: [...group.matchAll(/\[([^\]]+)\]\((\/[^)#]*)/g)].map(([, text = '', link = '']) => page(text, link)),
  }));

/** The first sentence of a page, without links. */
function aboutOf(link: string): string {
  const [, first = ''] =
    /^(?!#|<|!|\||```|-)(\S(?:(?!\n\n)[\s\S])*?(?:\.(?=\s)|(?=\n\n)))/m.exec(readFileSync(fileOf(link), 'utf8')) ?? [];
  return first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
}

/** For language models: the pages by task, as Markdown. */
const llms = () =>
  `# Innbound ${version}\n\n> ${aboutOf('/')}\n\n${sidebar
    .map(({ text, items }) => {
      const lines = items.map(({ text: title, link }) => {
        const file = link.endsWith('/') ? `${link}index.md` : `${link}.md`;
        return `- [${title}](${base.slice(0, -1)}${file}): ${aboutOf(link)}`;
      });
      return `## ${text}\n\n${lines.join('\n')}`;
    })
    .join('\n\n')}\n`;

export default defineConfig({
  title: 'Innbound',
  description: 'Reservation data integration for hotels',
  lang: 'en',
  base,
  srcDir: './pages',
  srcExclude: ['public/**'],
  outDir: `./dist/${version}`,
  cleanUrls: true,
  buildEnd: ({ outDir }) => writeFileSync(path.join(outDir, 'llms.txt'), llms()),
  // Files that stage.mjs serves as they are.
  ignoreDeadLinks: [/^\/files\//],
  // Our pages are plain Markdown: angle brackets in them are text.
  markdown: {
    attrs: { disable: true },
    languageAlias: { caddyfile: 'nginx' },
    config: (md) => void md.set({ html: false }),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      page('Connect', '/guides/connect'),
      page('Partners', '/partners/'),
      { ...page('API', '/api.html'), target: '_self' },
      page('Errors', '/errors'),
      {
        text: version,
        // Beside this version; a target makes the browser load it as another site.
        items: versions.map((name) => ({ ...page(name, `/../${name}/`), target: '_self' })),
      },
    ],
    sidebar,
  },
});
