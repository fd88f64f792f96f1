import { parse } from 'yaml';
import type { ApiDescription } from '../../../packages/suggest/src/index.ts';
import { isTooDeep } from '../../kit/json.ts';
import { isObject, type Json, type JsonObject } from '../../terms.ts';
import { readOpenApi } from './openapi.ts';
import { readPostman } from './postman.ts';

export type ReadDescription =
  | { readonly kind: 'ok'; readonly description: ApiDescription; readonly format: string }
  | { readonly kind: 'wrong'; readonly message: string };

/** The largest description of a PMS that we have seen is 9 MB. */
const maxDescriptionBytes = 32 * 1024 * 1024;

/** Reads OpenAPI 3, Swagger 2 or a Postman collection, as JSON or YAML. Sends no requests: references to other files are dropped. */
export async function readApiDescription(text: string): Promise<ReadDescription> {
  if (Buffer.byteLength(text) > maxDescriptionBytes) {
    return { kind: 'wrong', message: `The description exceeds the limit of ${maxDescriptionBytes} bytes.` };
  }
  const document = parsed(text);
  if (isTooDeep(document)) return { kind: 'wrong', message: 'The description is nested too deep.' };
  if (!isObject(document)) return { kind: 'wrong', message: 'The file is not a JSON or YAML object.' };
  const version = document.openapi ?? document.swagger;
  if (typeof version === 'string' || typeof version === 'number') {
    const format = `${document.openapi === undefined ? 'Swagger' : 'OpenAPI'} ${version}`;
    return read(format, () => readOpenApi(document));
  }
  if (isCollection(document)) return read('Postman collection', () => readPostman(document));
  return {
    kind: 'wrong',
    message:
      'The file is not an API description: it has no openapi or swagger version and is not a Postman collection.',
  };
}

async function read(format: string, work: () => ApiDescription | Promise<ApiDescription>): Promise<ReadDescription> {
  try {
    return { kind: 'ok', format, description: await work() };
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    return { kind: 'wrong', message: `The ${format} description cannot be read: ${reason}` };
  }
}

function isCollection(document: JsonObject): boolean {
  return Array.isArray(document.item) && isObject(document.info);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // YAML's check for unique keys takes quadratic time.
    try {
      return parse(text, { uniqueKeys: false, maxAliasCount: 100, logLevel: 'error' }) as Json;
    } catch {
      return undefined;
    }
  }
}
