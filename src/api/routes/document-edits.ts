import { z } from 'zod';
import { casesText } from '../../errors/broken-cases.ts';
import { type Applied, applyDocument, removeDocument, validateDocument } from '../../operations/edit-documents.ts';
import { type Api, notFound, ok, problem, type Route, route } from '../route.ts';
import { kinds, named } from './documents.ts';

const mistake = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  path: z.string(),
  message: z.string(),
  suggestion: z.string().optional(),
});
const text = z.string().max(1024 * 1024);

export function documentEditRoutes({ runtime }: Api): Route[] {
  const path = '/documents/{kind}/{name}';
  return [
    route('POST /documents/validate', {
      id: 'documents.validate',
      asks: true,
      summary: 'Validate a document together with the others; nothing is applied',
      role: 'viewer',
      body: z.strictObject({ kind: kinds, name: named.shape.name.optional(), text }),
      response: z.object({
        valid: z.boolean(),
        mistakes: z.array(mistake),
        warnings: z
          .array(mistake.extend({ severity: z.literal('warning') }))
          .describe('Warnings: allowed, but probably a mistake. The document can be applied.'),
        holds_credentials: z
          .boolean()
          .describe('Whether credentials are typed into the text; true for a text that cannot be read.'),
      }),
      handle: async ({ body }) => {
        const { mistakes, warnings, holdsCredentials } = await validateDocument(
          runtime,
          body.kind,
          body.name,
          body.text,
        );
        return ok({ valid: mistakes.length === 0, mistakes, warnings, holds_credentials: holdsCredentials });
      },
    }),
    route(`PUT ${path}`, {
      id: 'documents.apply',
      summary: 'Write one document into the workspace and put it in force',
      description:
        'A connector that makes other records of its kept samples than they must become is refused with `documents.case_changed` and the names of the cases, unless `accept_cases` is true.',
      role: 'admin',
      params: named,
      body: z.strictObject({
        text,
        accept_cases: z
          .boolean()
          .default(false)
          .describe('For a connector: from now on its kept samples expect the records that this text produces.'),
        replaces: z
          .int()
          .min(0)
          .optional()
          .describe(
            'The version that the text was made from, 0 for a new document. If another version is in force, the text is refused with `documents.outdated`. Without it, the text replaces any version.',
          ),
      }),
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ params: { kind, name }, body, caller }) =>
        answer(
          await applyDocument(runtime, { kind, name, text: body.text }, caller.name, {
            acceptCases: body.accept_cases,
            replaces: body.replaces,
          }),
          `${kind} ${name}`,
        ),
    }),
    route(`DELETE ${path}`, {
      id: 'documents.remove',
      summary: 'Remove one document from the workspace; its versions and data are kept',
      role: 'admin',
      params: named,
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ params: { kind, name }, caller }) =>
        answer(await removeDocument(runtime, kind, name, caller.name), `${kind} ${name}`),
    }),
  ];
}

export function answer(applied: Applied, what: string) {
  if (applied.kind === 'applied') return ok({ version: applied.version, file: applied.file });
  if (applied.kind === 'unknown') return notFound(what);
  if (applied.kind === 'read_only') {
    return problem(409, 'operate.conflict', `${applied.file} is read-only here: change it at its source.`);
  }
  if (applied.kind === 'listed') {
    return problem(
      409,
      'operate.conflict',
      `${what} is a row of ${applied.file}: remove it there and run \`innbound apply\`.`,
    );
  }
  if (applied.kind === 'unapplied') {
    const detail = `${applied.file} has changes that were not applied. Run \`innbound apply\` or undo them there, then edit again.`;
    return problem(409, 'operate.conflict', detail);
  }
  if (applied.kind === 'outdated') {
    const { version } = applied;
    const now = version === 0 ? 'no version is in force' : `version ${version} is in force`;
    return problem(409, 'documents.outdated', `${what}: ${now}; nothing was applied.`, { version });
  }
  if (applied.kind === 'breaks_cases') {
    const cases = applied.cases.map((one) => ({ ...one }));
    return problem(409, 'documents.case_changed', `${casesText(applied.cases)}; nothing was applied.`, { cases });
  }
  const { mistakes } = applied;
  return problem(
    422,
    'documents.invalid',
    `${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'}; nothing was applied.`,
    {
      mistakes: mistakes.map((one) => ({ ...one })),
    },
  );
}
