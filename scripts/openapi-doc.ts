import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { apiRoutes } from '../src/operator/api/api.ts';
import { openApiDocument, referencePage } from '../src/operator/api/openapi.ts';
import type { Api } from '../src/operator/api/route.ts';

/** The API's description, as every service serves it. Run as a program, it writes the description and its page into a folder, for the site. */
export const openApi = () => openApiDocument(routes());

// No handler is called here.
const routes = () => apiRoutes({ runtime: {} } as Api);

const [folder] = process.argv.slice(2);
if (import.meta.main && folder !== undefined) {
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(openApi()));
  writeFileSync(path.join(folder, 'api.html'), referencePage(routes()).replace('/api/v1/openapi.json', 'openapi.json'));
}
