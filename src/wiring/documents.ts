import type { ApiPorts } from '../api/api.ts';
import { jsonSchema } from '../documents/published-schemas.ts';
import { maskedSource } from '../documents/typed-secrets.ts';
import { documentImpact } from '../operations/document-impact.ts';
import { applyDocument, removeDocument, validateDocument } from '../operations/edit-documents.ts';
import { listConnectors } from '../operations/list-connectors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { documentText, documentVersions, listDocuments } from '../store/documents/list.ts';

export function documentPorts(runtime: Runtime): ApiPorts['documents'] {
  const { pool } = runtime;
  return {
    list: (kind) => listDocuments(pool, kind),
    text: async (kind, name, version) => {
      const found = await documentText(pool, kind, name, version);
      // Earlier versions of Innbound sealed fewer fields, and stored the texts of some credentials.
      return found && { ...found, source: maskedSource(found.kind, found.source) };
    },
    versions: (kind, name) => documentVersions(pool, kind, name),
    impact: (kind, name) => documentImpact(runtime, kind, name),
    schema: jsonSchema,
    connectors: () => listConnectors(runtime),
    validate: (kind, name, text) => validateDocument(runtime, kind, name, text),
    apply: (document, by, options) => applyDocument(runtime, document, by, options),
    remove: (kind, name, by) => removeDocument(runtime, kind, name, by),
  };
}
