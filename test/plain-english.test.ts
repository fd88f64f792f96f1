import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Phrases that a reader stumbles over. A short list that catches the worst; reviewers see the rest. */
const phrases = [
  /\banew\b/i,
  /\bwhoever is\b/i,
  /\b(?:is|are|was|were) told\b/i,
  /\bto be told\b/i,
  /\bnobody (?:asks|looks)\b/i,
  /\bfor what comes\b/i,
  /\bleft in peace\b/i,
  /\bin a circle\b/i,
  /\bhas not the\b/i,
  /\bis no [a-z]+ (?:that|of)\b/i,
  /\bform it must have\b/i,
  /\ball the same\b/i,
  /\btold apart\b/i,
  /\bgo(?:es)? on [a-z]+ing\b/i,
  /\bof its own accord\b/i,
  /(?<!instead )\bof (?:its|their) own\b/i,
  /\bstays? as (?:it is|they are)\b/i,
  /\bunless said\b/i,
  /\b(?:becomes?|became) of\b/i,
  /\bcosts? (?:the|a|no) (?:record|booking|reservation|event)\b/i,
  /\b(?:left|leaves?) (?:it |them )?alone\b/i,
  /\bin the (?:midst|place) of\b/i,
  /\bwhoever\b/i,
  /\bis there (?:once|twice)\b/i,
  /\btaken for (?:a|an|one|the)\b/i,
  /\bstands? for\b/i,
  /\bbut for\b/i,
  /\bsp(?:eaks?|oken?) of\b/i,
  /\bheld against\b/i,
  /\bto be had\b/i,
  /\bby guess\b/i,
  /\bgives? way\b/i,
  /\bhow (?:it|each|they) (?:is|are) doing\b/i,
  /\bis to be\b/i,
  /\bworked off\b/i,
  /\bgood once\b/i,
  /\bcontacts nobody\b/i,
  /\bis no (?:token|key|number|name)\b/i,
];

const root = path.dirname(import.meta.dirname);
const folders = ['src', 'console/src', 'docs', 'ops', 'connectors', 'scripts', 'bench', 'test'];
/** Migrations cannot change any more, and this file quotes the phrases. */
const exceptions = /\/migrations\/|plain-english/;

test('comments and messages say it plainly', () => {
  const found = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|md|yaml|sql|sh)$/.test(file))
      .filter((file) => !exceptions.test(`${folder}/${file}`))
      .flatMap((file) =>
        readFileSync(path.join(root, folder, file), 'utf8')
          .split('\n')
          .flatMap((line, i) =>
            phrases.some((phrase) => phrase.test(line))
              ? [`${folder}/${file}:${i + 1} ${line.trim().slice(0, 120)}`]
              : [],
          ),
      ),
  );
  assert.deepEqual(found, []);
});
