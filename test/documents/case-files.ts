import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DocumentKind } from '../../src/core/documents/kinds.ts';
import type { Mistake } from '../../src/core/documents/mistake.ts';

/** cases/KIND/NAME.yaml is a document; NAME.mistakes.txt beside it, where it has any, names them: line:column path: message. A list of names ends in `…`. */

const folder = new URL('cases/', import.meta.url);

export interface CaseFile {
  readonly name: string;
  readonly kind: DocumentKind;
  readonly text: string;
  readonly expected: readonly string[];
  readonly expectedFile: string;
}

export function caseFiles(): CaseFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((kind) =>
    readdirSync(new URL(`${kind.name}/`, folder))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => {
        const expectedFile = fileURLToPath(new URL(`${kind.name}/${file.replace(/yaml$/, 'mistakes.txt')}`, folder));
        return {
          name: `${kind.name}: ${file.slice(0, -5).replaceAll('-', ' ')}`,
          kind: kind.name as DocumentKind,
          text: readFileSync(new URL(`${kind.name}/${file}`, folder), 'utf8'),
          expected: existsSync(expectedFile) ? readFileSync(expectedFile, 'utf8').trimEnd().split('\n') : [],
          expectedFile,
        };
      }),
  );
}

export function inALine({ line, column, path, message }: Mistake): string {
  return `${line}:${column} ${path}: ${message}`;
}
