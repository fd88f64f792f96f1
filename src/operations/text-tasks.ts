import { activate, type BrandDocuments } from '../brand/active.ts';
import type { Brand } from '../brand/brand.ts';
import { compileCheck } from '../brand/compile-check.ts';
import { type CheckResult, checkFiles } from '../documents/check.ts';
import { refuseHostReferences } from '../documents/host-references.ts';
import type { Bodies } from '../documents/kinds.ts';
import { parseFile, type SourceFile } from '../documents/parse.ts';
import { holdsCredentials } from '../documents/typed-secrets.ts';
import { pushSettingsOf } from '../intake/push/push-settings.ts';
import type { Arrived } from '../intake/push/receive.ts';
import { type Examined, reportOn, type SandboxReport } from '../intake/push/sandbox-report.ts';
import { parseJson } from '../kit/json.ts';
import { decide } from '../pipeline.ts';
import type { KeptPayload } from '../store/records/entry-payload.ts';
import type { EntityType, Json } from '../terms.ts';
import { type Assigned, assignField, type Lookup } from './assign-field.ts';
import { importForApi } from './import-description.ts';
import { type Preparation, stateAgain } from './prepare-letter.ts';
import { previewMapping, suggestMapping } from './preview-mapping.ts';
import { statePayload } from './reprocess.ts';

/**
 * The work on texts that people send: parsing, compiling and mapping. Runs in a worker thread (off-thread.ts), so input and
 * result are plain data.
 */
export interface TextTasks {
  /** Checks an edited document together with the others. `name` is the name inside the document. */
  checkEdit(input: {
    readonly others: readonly SourceFile[];
    readonly edited: SourceFile;
    /** References to the machine that the version in force has; see host-references.ts. */
    readonly hostReferences: readonly string[];
  }): {
    readonly name: string | undefined;
    readonly checked: CheckResult;
    readonly holdsCredentials: boolean;
  };
  check(input: { readonly sources: readonly SourceFile[] }): CheckResult;
  preview(input: {
    readonly asked: Parameters<typeof previewMapping>[0];
    readonly integration: Bodies['integration'] | undefined;
    readonly spellings?: Bodies['workspace']['spellings'];
  }): ReturnType<typeof previewMapping>;
  suggest(input: { readonly sample: string; readonly name: string }): ReturnType<typeof suggestMapping>;
  importDescription(input: Parameters<typeof importForApi>[0]): ReturnType<typeof importForApi>;
  stateLetter(input: { readonly brand: BrandDocuments; readonly preparation: Preparation }): LetterOutcome;
  /** Maps payloads only to check that it ends in time. */
  prepareMany(input: { readonly brand: BrandDocuments; readonly payloads: readonly KeptPayload[] }): number;
  assign(input: {
    readonly connector: string;
    readonly field: string;
    readonly path: string;
    readonly lookup?: Lookup | undefined;
  }): Assigned;
  sandboxReport(input: {
    readonly brand: BrandDocuments;
    readonly arrived: Arrived;
    readonly examined: Omit<Examined, 'brand' | 'settings'>;
  }): SandboxReport;
}

export type LetterOutcome =
  | { readonly kind: 'record'; readonly type: EntityType; readonly id: string; readonly record: Json }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'dead'; readonly code: string; readonly message: string };

export const textTasks: TextTasks = {
  checkEdit: ({ others, edited, hostReferences }) => ({
    name: parseFile(edited).name,
    checked: refuseHostReferences(checkFiles([...others, edited], [compileCheck]), edited, hostReferences),
    holdsCredentials: holdsCredentials(edited.kind, edited.text),
  }),
  check: ({ sources }) => checkFiles(sources, [compileCheck]),
  preview: ({ asked, integration, spellings }) => previewMapping(asked, integration, spellings),
  suggest: ({ sample, name }) => suggestMapping(sample, name),
  importDescription: importForApi,
  stateLetter: ({ brand, preparation }) => letterOutcome(compiled(brand), preparation),
  prepareMany: ({ brand, payloads }) => {
    const integration = compiled(brand);
    return payloads.map((payload) => statePayload(integration, payload)).length;
  },
  assign: ({ connector, field, path, lookup }) => assignField(connector, field, path, lookup),
  sandboxReport: ({ brand, arrived, examined }) => {
    const integration = compiled(brand);
    const { buffer, byteOffset, byteLength } = arrived.rawBody;
    return reportOn(
      { ...arrived, rawBody: Buffer.from(buffer, byteOffset, byteLength) },
      { ...examined, settings: pushSettingsOf(integration), brand: integration },
    );
  },
};

function compiled(brand: BrandDocuments): Brand {
  const [integration] = activate(brand).integrations.values();
  if (integration === undefined) throw new TypeError('the documents of a brand in force do not compile');
  return integration;
}

function letterOutcome(brand: Brand, preparation: Preparation): LetterOutcome {
  const statement = stateAgain(brand, preparation);
  const made = decide(brand, undefined, statement);
  if (made.kind === 'dead') {
    const { code, message } = made.deadLetter;
    return { kind: 'dead', code, message };
  }
  if (made.kind !== 'change') return { kind: 'dropped', reason: made.reason ?? '' };
  return { kind: 'record', type: statement.type, id: statement.id, record: parseJson(made.text) };
}
