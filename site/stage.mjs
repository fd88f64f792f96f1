/**
 * Makes the pages of one version of the site from a checkout: `node stage.mjs CHECKOUT FOLDER`. The pages of docs/ keep their paths. Other
 * Markdown files that they link to become pages under /project, and any other linked file is served as it is, so no link leads nowhere.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [checkout = '..', folder = 'pages'] = process.argv.slice(2);

const inCheckout = (file) => path.join(checkout, file);
const isFile = (file) => existsSync(inCheckout(file)) && statSync(inCheckout(file)).isFile();

/** docs/guides/pull.md is guides/pull.md, README.md is index.md, and ARCHITECTURE.md is project/ARCHITECTURE.md. */
const pageOf = (file) =>
  (file.startsWith('docs/') ? file.slice('docs/'.length) : `project/${file}`).replace(
    /(^|\/)README\.md$/,
    '$1index.md',
  );

const waiting = readdirSync(inCheckout('docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => path.posix.join('docs', file))
  .sort();
const pages = new Set(waiting);
const served = new Set();

/** Where the site has what a page links to; undefined for a folder without a page of its own. */
function addressOf(target) {
  const file = target === 'docs/adr' ? target : isFile(target) ? target : `${target}/README.md`;
  if (file === 'docs/adr') return '/adr/';
  if (!isFile(file)) return undefined;
  if (!file.endsWith('.md')) {
    served.add(file);
    return `/files/${file}`;
  }
  if (!pages.has(file)) {
    pages.add(file);
    waiting.push(file);
  }
  return `/${pageOf(file)
    .replace(/(?:^|(?<=\/))index\.md$/, '')
    .replace(/\.md$/, '')}`;
}

const isElsewhere = (target) => /^(?:[a-z]+:|#)/.test(target);

function rewritten(file, text) {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, i) => {
      if (i % 2 === 1) return part; // code
      return part
        .replace(/<!--[\s\S]*?-->\n*/g, '')
        .replace(/<img src="([^"]+)" alt="([^"]*)"[^>]*>/g, '![$2]($1)')
        .replace(/(!?)\[((?:[^\]\\]|\\.)*)\]\(([^)\s]+)\)/g, (whole, picture, words, target) => {
          if (isElsewhere(target)) return whole;
          const [place, anchor] = target.split('#');
          const found = path.posix.normalize(path.posix.join(path.posix.dirname(file), place));
          if (picture !== '') {
            served.add(found);
            return `![${words}](/files/${found})`;
          }
          const address = addressOf(found);
          return address === undefined ? words : `[${words}](${address}${anchor === undefined ? '' : `#${anchor}`})`;
        });
    })
    .join('');
}

const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1] ?? '';

rmSync(folder, { recursive: true, force: true });
const write = (file, text) => {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
};
const decisions = [];
for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
  const text = rewritten(file, readFileSync(inCheckout(file), 'utf8'));
  write(pageOf(file), text);
  // For programs: the same page as Markdown.
  write(path.posix.join('public', pageOf(file)), text);
  if (file.startsWith('docs/adr/')) decisions.push(`- [${titleOf(text)}](/${pageOf(file).replace(/\.md$/, '')})`);
}
write('adr/index.md', `# Decisions\n\n${decisions.join('\n')}\n`);
for (const file of served) cpSync(inCheckout(file), path.join(folder, 'public', 'files', file), { recursive: true });
// The API's description and its page are built from the checkout's routes, with the packages that it needs.
execFileSync(inCheckout('scripts/prepare'), { stdio: 'inherit' });
execFileSync(inCheckout('node_modules/.bin/node'), [inCheckout('scripts/openapi-doc.ts'), path.join(folder, 'public')]);
