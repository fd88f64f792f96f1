import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

/** Which version this is, set by build.mjs; `npm run dev` shows the checkout alone. */
const version = process.env.SITE_VERSION ?? 'next';
const versions = (process.env.SITE_VERSIONS ?? version).split(',');
const base = process.env.SITE_BASE ?? '/';

const page = (text: string, link: string) => ({ text, link });
const fileOf = (link: string) => path.join(import.meta.dirname, '..', 'pages', `${link.replace(/\/$/, '/index')}.md`);

/** Every reader has one path of at most five pages; the rest is for looking up. */
const sidebar = [
  {
    text: 'Integrator',
    items: [
      page('Connect a brand', '/guides/connect'),
      page('Pull', '/guides/pull'),
      page('Push', '/guides/push'),
      page('Mapping', '/reference/mapping'),
      page('Connectors', '/reference/connectors'),
    ],
  },
  {
    text: 'Operator',
    items: [
      page('Run it', '/guides/production'),
      page('Operate', '/guides/operate'),
      page('Console', '/guides/console'),
      page('A partner’s mistakes', '/guides/holds'),
      page('Alerts', '/guides/alerts'),
    ],
  },
  {
    text: 'Marketing and data',
    items: [
      page('Deliver', '/guides/deliver'),
      page('Presets', '/reference/presets'),
      page('Warehouse', '/guides/warehouse'),
      page('Measures', '/guides/measures'),
      page('Fields', '/reference/canonical'),
    ],
  },
  {
    text: 'Data protection',
    items: [
      page('Privacy', '/guides/privacy'),
      page('Promises', '/promises'),
      page('Security', '/project/SECURITY'),
      page('Inventories', '/security/inventory'),
      page('ASVS', '/security/asvs'),
    ],
  },
  {
    text: 'Platform',
    items: [
      page('Scaling', '/guides/scaling'),
      page('Sign-in', '/guides/sign-in'),
      page('Environment', '/reference/environment'),
      page('API', '/guides/api'),
      page('Feed', '/guides/feed'),
    ],
  },
  {
    text: 'Partner',
    items: [
      page('Start', '/partners/'),
      page('Your API', '/partners/api'),
      page('Webhooks', '/partners/webhooks'),
      page('Check', '/partners/check'),
      page('Simulator', '/partners/simulate'),
    ],
  },
  {
    text: 'Reference',
    collapsed: true,
    items: [
      page('Connector', '/reference/connector'),
      page('Integration', '/reference/integration'),
      page('Destination', '/reference/destination'),
      page('Workspace', '/reference/workspace'),
      page('Business rules', '/guides/rules'),
      page('Adapters', '/guides/adapters'),
      page('Assistants', '/guides/assistants'),
      page('Audit', '/guides/audit'),
      page('Error codes', '/errors'),
      page('Database', '/reference/database'),
      page('Webhook sender', '/partners/webhook-sender'),
      page('Glossary', '/glossary'),
      page('Decisions', '/adr/'),
      page('Architecture', '/project/ARCHITECTURE'),
      page('Figures', '/project/bench/RESULTS'),
      page('Releases', '/release'),
    ],
  },
];

/** The first sentence of a page, without links. */
function aboutOf(link: string): string {
  const [, first = ''] =
    /^(?!#|<|!|\||```|-)(\S(?:(?!\n\n)[\s\S])*?[.:])(?:\s|$)/m.exec(readFileSync(fileOf(link), 'utf8')) ?? [];
  return first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
}

/** An older version may lack a page. */
const shown = sidebar.map((group) => ({ ...group, items: group.items.filter(({ link }) => existsSync(fileOf(link))) }));

/** For language models: the pages by reader, as Markdown. */
const llms = () =>
  `# Innbound ${version}\n\n> ${aboutOf('/')}\n\n${shown
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
    sidebar: shown,
  },
});
