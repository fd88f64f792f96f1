import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

/** Every reader has one path of at most five pages; the rest is reference. */
const page = (text: string, link: string) => ({ text, link });

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
      page('Alerts', '/guides/alerts'),
      page('Assistants', '/guides/assistants'),
    ],
  },
  {
    text: 'Marketing and data',
    items: [
      page('Deliver', '/guides/deliver'),
      page('Warehouse', '/guides/warehouse'),
      page('Measures', '/guides/measures'),
      page('Feed', '/guides/feed'),
      page('Fields', '/reference/canonical'),
    ],
  },
  {
    text: 'Data protection',
    items: [page('Privacy', '/guides/privacy'), page('Promises', '/promises'), page('Security', '/security/inventory')],
  },
  {
    text: 'Platform',
    items: [
      page('Scaling', '/guides/scaling'),
      page('Sign-in', '/guides/sign-in'),
      page('Environment', '/reference/environment'),
      page('API guide', '/guides/api'),
      page('API reference', '/reference/api'),
    ],
  },
  {
    text: 'Partner',
    items: [
      page('Start', '/partners/'),
      page('Your API', '/partners/api'),
      page('Webhooks', '/partners/webhooks'),
      page('Check', '/partners/check'),
      page('Sender', '/partners/webhook-sender'),
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
      page('Error codes', '/errors'),
      page('Glossary', '/glossary'),
      page('Releases', '/release'),
    ],
  },
];

/** For language models: the pages by reader. */
const llms = `# Innbound\n\n> Reservation data integration for hotels: pull, push, one schema, every change delivered in order.\n\n${sidebar
  .map(({ text, items }) => `## ${text}\n\n${items.map((each) => `- [${each.text}](${each.link})`).join('\n')}`)
  .join('\n\n')}\n`;

export default defineConfig({
  title: 'Innbound',
  description: 'Reservation data integration for hotels',
  srcDir: './pages',
  outDir: './dist',
  cleanUrls: true,
  buildEnd: ({ outDir }) => writeFileSync(path.join(outDir, 'llms.txt'), llms),
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  // Links to files of the repository, outside docs/. test/docs/links.test.ts checks that they exist.
  ignoreDeadLinks: [
    /^\.\.?\/.*(?:packages|connectors|schemas|ops|bench|src|test|scripts)\//,
    /(?:ARCHITECTURE|CONTRIBUTING|SECURITY|CHANGELOG|LICENSE)/,
    /openapi\.json/,
    /\/adr(?:\/index)?$/,
    /\.(?:mjs|ts|yaml|json)$/,
  ],
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
      page('Guide', '/guides/connect'),
      page('Partners', '/partners/'),
      page('API', '/reference/api'),
      page('Errors', '/errors'),
    ],
    sidebar,
  },
});
