/** Runs every script that writes a committed file from the code. Tests compare the files. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const scripts = [
  'scripts/warehouse-migration.ts',
  'scripts/canonical-reference.ts',
  'scripts/mapping-reference.ts',
  'scripts/errors-doc.ts',
  'scripts/environment-reference.ts',
  'scripts/database-reference.ts',
  'scripts/document-reference.ts',
  'scripts/console-types.ts',
  'scripts/receiver-types.ts',
  'scripts/asyncapi.ts',
  'scripts/connector-coverage.ts',
  'scripts/preset-reference.ts',
  'scripts/check-rules.ts',
  'scripts/events-reference.ts',
  'scripts/alerts-reference.ts',
  'scripts/command-reference.ts',
];
for (const [i, script] of scripts.entries()) {
  console.log(`${i + 1} of ${scripts.length}: ${script}`);
  execFileSync(process.execPath, [path.join(root, script)], { stdio: 'inherit', cwd: root });
}
console.log('Done. git status shows the files that changed.');
