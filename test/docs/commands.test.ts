import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { commandsText } from '../../scripts/command-reference.ts';
import { errors } from '../../src/errors.ts';
import { advice } from '../../src/operator/watch/facts.ts';

/** Whoever copies a command from a page, an error or an alert has one that exists, with options that it takes. */

const root = path.join(import.meta.dirname, '..', '..');
const common = ['--workspace', '-w', '--json', '--help', '--version'];

/** The options of each command by its words, such as `dead-letters replay`, from the generated page. */
async function commands(): Promise<Map<string, Set<string>>> {
  const all = new Map<string, Set<string>>();
  for (const part of (await commandsText()).split(/^##+ `innbound /m).slice(1)) {
    const words = /^[\w-]+(?: [\w-]+)*/.exec(part)?.[0] ?? '';
    const flags = [...part.matchAll(/^\| `([^`]+)`/gm)].flatMap(([, text = '']) => text.match(/--?[\w-]+/g) ?? []);
    all.set(words, new Set([...common, ...flags]));
  }
  return all;
}

const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md', 'connectors/**/*.md'], { cwd: root })
  .filter((page) => !['CHANGELOG.md', path.join('docs', 'reference', 'commands.md')].includes(page))
  .map((page) => ({ where: page, text: readFileSync(path.join(root, page), 'utf8') }));
const messages = [...Object.values(errors).map(({ next }) => next), ...Object.values(advice)];

/** In code spans and in lines of blocks. */
function commandsIn(text: string): string[] {
  const spans = [...text.matchAll(/`(innbound [^`\n]+)`/g)].map(([, command = '']) => command);
  const lines = [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```/gm)].flatMap(([, kind, block = '']) =>
    (kind === '' || kind === 'sh' ? block : '')
      .split('\n')
      .flatMap((line) => /(?:^|[|(] *)(innbound [\w-].*)/.exec(line)?.[1] ?? []),
  );
  return [...spans, ...lines].map((command) => command.replace(/\s(?:#|>|\||&&|;).*$/, ''));
}

test('every command that a page names exists and takes the options beside it', async () => {
  const known = await commands();
  const written = pages.flatMap(({ where, text }) => commandsIn(text).map((command) => ({ where, command })));
  assert.ok(known.size > 60 && written.length > 150, `${known.size}, ${written.length}`);
  const mistaken = written.filter(({ command }) => {
    const words = command.split(/\s+/).slice(1);
    const flags = words.flatMap((word) => /^--?[a-z][\w-]*/.exec(word)?.[0] ?? []);
    const taken = known.get(words.slice(0, 2).join(' ')) ?? known.get(words[0] ?? '');
    return taken === undefined ? !common.includes(words[0] ?? '') : flags.some((flag) => !taken.has(flag));
  });
  assert.deepEqual(mistaken, []);
});

test('every command that an error or an alert names exists', async () => {
  const known = await commands();
  const named = messages.flatMap((text) => Array.from(text.matchAll(/\binnbound ([a-z-]+)/g), ([, name = '']) => name));
  assert.ok(named.length > 30, String(named.length));
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});
