import { activate, type BrandDocuments } from '../../core/brand/active.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { compileCheck } from '../../core/brand/compile-check.ts';
import { checkFiles } from '../../core/documents/check.ts';
import { refuseHostReferences } from '../../core/documents/host-references.ts';
import { parseFile, type SourceFile } from '../../core/documents/parse.ts';
import { holdsCredentials } from '../../core/documents/typed-secrets.ts';
import type { Arrived } from '../../core/intake/push/receive.ts';
import { type Examined, reportOn } from '../../core/intake/push/sandbox-report.ts';
import { pushSettingsOf } from '../../core/intake/push/settings.ts';
import { decide } from '../../core/pipeline.ts';
import type { KeptPayload } from '../../core/store/records/entry-payload.ts';
import { type Assigning, assignField } from './assign-field.ts';
import { importForApi } from './import-description.ts';
import { type Preparation, stateAgain, statePayload } from './prepare-letter.ts';
import { previewMapping, suggestMapping } from './preview-mapping.ts';
import { readSample } from './read-sample.ts';

/**
 * The work on texts that people send: parsing, compiling and mapping. Runs in a worker thread (off-thread.ts), so input and
 * result are plain data.
 */
export const textTasks = {
  /** Checks documents together with the others. `names` are the names inside them. */
  checkOffered: ({ others, offered }: Offered) => ({
    names: offered.map(({ source }) => parseFile(source).name),
    checked: offered.reduce(
      (checked, { source, hostReferences }) => refuseHostReferences(checked, source, hostReferences),
      checkFiles([...others, ...offered.map(({ source }) => source)], [compileCheck]),
    ),
    holdsCredentials: offered.some(({ source }) => holdsCredentials(source.kind, source.text)),
  }),
  check: ({ sources }: { readonly sources: readonly SourceFile[] }) => checkFiles(sources, [compileCheck]),
  readSample,
  preview: previewMapping,
  suggest: suggestMapping,
  importDescription: importForApi,
  /** States a dead letter again, only to check that it ends in time. */
  stateLetter: ({ brand, preparation }: { readonly brand: BrandDocuments; readonly preparation: Preparation }) => {
    const integration = compiled(brand);
    return decide(integration, undefined, stateAgain(integration, preparation)).kind;
  },
  /** Maps payloads only to check that it ends in time. */
  prepareMany: ({ brand, payloads }: { readonly brand: BrandDocuments; readonly payloads: readonly KeptPayload[] }) => {
    const integration = compiled(brand);
    return payloads.map((payload) => statePayload(integration, payload)).length;
  },
  assign: ({ connector, field, path, lookup }: Assigning) => assignField(connector, field, path, lookup),
  sandboxReport: ({ brand, arrived, examined }: ReportAsked) => {
    const integration = compiled(brand);
    const { buffer, byteOffset, byteLength } = arrived.rawBody;
    return reportOn(
      { ...arrived, rawBody: Buffer.from(buffer, byteOffset, byteLength) },
      { ...examined, settings: pushSettingsOf(integration), brand: integration },
    );
  },
};
export type TextTasks = typeof textTasks;

interface Offered {
  readonly others: readonly SourceFile[];
  readonly offered: readonly {
    readonly source: SourceFile;
    /** References to the machine that the version in force has; see host-references.ts. */
    readonly hostReferences: readonly string[];
  }[];
}

interface ReportAsked {
  readonly brand: BrandDocuments;
  readonly arrived: Arrived;
  readonly examined: Omit<Examined, 'brand' | 'settings'>;
}

function compiled(brand: BrandDocuments): Brand {
  const [integration] = activate(brand).integrations.values();
  if (integration === undefined) throw new TypeError('the documents of a brand in force do not compile');
  return integration;
}
