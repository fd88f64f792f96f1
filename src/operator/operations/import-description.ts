import { parse } from 'yaml';
import {
  type ApiDescription,
  type ProposeOptions,
  proposalYaml,
  proposeFromDescription,
} from '../../../packages/suggest/src/index.ts';
import { isTooDeep } from '../../kit/json.ts';
import { isObject, type Json } from '../../terms.ts';
import { readOpenApi } from './api-description/openapi.ts';
import { readPostman } from './api-description/postman.ts';
import { readSample } from './preview-mapping.ts';

/** An API description's text to a proposed connector. Reads only the text and sends no requests. */
export async function importDescription(text: string, options: ProposeOptions = {}) {
  const read = await readApiDescription(text);
  if (read.kind === 'wrong') return read;
  const proposal = proposeFromDescription(read.description, options);
  if (proposal.kind !== 'ok') return wrong(proposal.message);
  return { kind: 'ok', format: read.format, proposal } as const;
}

/** The same for the API: text in, text and plain data out. */
export async function importForApi({ description, sample, name, operation }: ImportAsked) {
  const read = sample === undefined ? undefined : readSample(sample);
  if (read?.kind === 'invalid') return wrong(read.message);
  const options = { name, ...(operation !== undefined && { operation }), ...(read && { sample: read.value }) };
  const imported = await importDescription(description, options);
  if (imported.kind === 'wrong') return imported;
  return { ...imported.proposal, format: imported.format, connector: proposalYaml(imported.proposal) };
}

interface ImportAsked {
  readonly description: string;
  readonly name: string;
  readonly operation?: string | undefined;
  readonly sample?: string | undefined;
}

/** The largest description of a PMS that we have seen is 9 MB. */
const maxDescriptionBytes = 32 * 1024 * 1024;

/** Reads OpenAPI 3, Swagger 2 or a Postman collection, as JSON or YAML. Sends no requests: references to other files are dropped. */
async function readApiDescription(text: string) {
  if (Buffer.byteLength(text) > maxDescriptionBytes) {
    return wrong(`The description exceeds the limit of ${maxDescriptionBytes} bytes.`);
  }
  const document = parsed(text);
  if (isTooDeep(document)) return wrong('The description is nested too deep.');
  if (!isObject(document)) return wrong('The file is not a JSON or YAML object.');
  const version = document.openapi ?? document.swagger;
  if (typeof version === 'string' || typeof version === 'number') {
    const format = `${document.openapi === undefined ? 'Swagger' : 'OpenAPI'} ${version}`;
    return read(format, () => readOpenApi(document));
  }
  if (Array.isArray(document.item) && isObject(document.info))
    return read('Postman collection', () => readPostman(document));
  return wrong(
    'The file is not an API description: it has no openapi or swagger version and is not a Postman collection.',
  );
}

const wrong = (message: string) => ({ kind: 'wrong', message }) as const;

async function read(format: string, work: () => ApiDescription | Promise<ApiDescription>) {
  try {
    return { kind: 'ok', format, description: await work() } as const;
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    return wrong(`The ${format} description cannot be read: ${reason}`);
  }
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
