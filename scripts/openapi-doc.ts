import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiRoutes } from '../src/api/api.ts';
import { openApiDocument } from '../src/api/openapi.ts';
import type { Api } from '../src/api/route.ts';

/** Writes docs/reference/api/openapi.json from the routes; test/api/openapi.test.ts says when to run it. */
export const openApiFile = fileURLToPath(new URL('../docs/reference/api/openapi.json', import.meta.url));

export function openApiText(): string {
  // No handler is called here.
  const document = openApiDocument(apiRoutes({ runtime: {} } as Api));
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) {
  mkdirSync(path.dirname(openApiFile), { recursive: true });
  writeFileSync(openApiFile, openApiText());
}
