import csharp from '../../docs/partners/recipe-csharp.md?raw';
import curl from '../../docs/partners/recipe-curl.md?raw';
import java from '../../docs/partners/recipe-java.md?raw';
import php from '../../docs/partners/recipe-php.md?raw';
import python from '../../docs/partners/recipe-python.md?raw';
import node from './send.mjs?raw';

/** The recipes of the documentation, and one beside this file; test/packages/sender/recipes.test.ts runs them. */
const recipes = {
  curl: { text: curl, run: 'sh send.sh event.json' },
  Node: { text: node, run: 'node send.mjs event.json' },
  Python: { text: python, run: 'python3 send.py event.json' },
  PHP: { text: php, run: 'php send.php event.json' },
  Java: { text: java, run: 'java SendWebhook.java event.json' },
  'C#': { text: csharp, run: 'dotnet run event.json' },
};

export type Language = keyof typeof recipes;
export const codeLanguages = Object.keys(recipes) as Language[];

export const programIn = (language: Language): string =>
  /```\w+\n([\s\S]*?)```/.exec(recipes[language].text)?.[1] ?? recipes[language].text;

/** The commands that run the program with this address. The secret is typed by whoever runs it, so that no example contains it. */
export const commandsFor = (language: Language, url: string): string =>
  `export WEBHOOK_URL='${url}'\nread -rs WEBHOOK_SECRET && export WEBHOOK_SECRET   # paste your secret\n${recipes[language].run}`;
