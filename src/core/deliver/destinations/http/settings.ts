import { z } from 'zod';
import type { Json } from '../../../../terms.ts';
import { authSchema } from '../../../documents/auth.ts';
import { crossChecked } from '../../../documents/checked.ts';
import { durationText, urlTemplate } from '../../../documents/scalars.ts';
import { durationMs } from '../../../documents/units.ts';
import { operationShape, perSituation, situationSchema } from './operation.ts';
import { presets } from './preset.ts';
import { templateProblems } from './template.ts';

/** The values that presets need (addresses, ids and versions) are not credentials. */
const credential = {
  get except(): string[] {
    return presets.values().flatMap((preset) => Object.keys(preset.with));
  },
};

const shape = z
  .strictObject({
    preset: z
      .enum([...presets.keys()] as [string, ...string[]])
      .optional()
      .describe('A system whose requests are known; other settings of this document override the preset.'),
    with: z
      .record(z.string(), z.string().meta({ credential }))
      .default({})
      .describe('Values for {with.NAME}; each preset lists the ones that it needs.'),
    url: urlTemplate()
      .optional()
      .describe('Where changes are sent: a template over the message, such as https://crm.example/stays/{data.id}.'),
    ...operationShape,
    each: z.enum(['record', 'guest']).optional().describe('What one item is: the record, or each guest of it.'),
    requires: z
      .array(z.string().min(1))
      .optional()
      .describe('Paths that an item must have, such as guest.email; one without them is skipped.'),
    skip_if: z
      .array(z.string().min(1))
      .optional()
      .describe('Paths: if one of them is true, the item is not sent, such as guest.email_proxy.'),
    on: perSituation((description) => situationSchema.optional().describe(description))
      .default({})
      .describe('Requests that differ from the usual one.'),
    feedback: z
      .boolean()
      .default(true)
      .describe(
        'Whether people who unsubscribe, bounce or complain at the vendor are read back every five minutes, where the preset can.',
      ),
    auth: authSchema.default({ type: 'none' }).describe('The credentials of every request.'),
    timeout: durationText('1s', '5m').default('30s').describe('How long an answer may take.'),
  })
  .meta({ title: 'http', description: 'Any HTTP API that takes JSON, described as data; presets for some.' });

/** A check over several keys gets the settings untyped. */
type Loose = Readonly<Record<string, unknown>>;

export const settingsSchema = crossChecked(shape, (settings, report) => {
  const preset = presets.get(String(settings.preset));
  if (settings.preset === undefined && settings.url === undefined) report({ message: 'needs url, or a preset' });
  const given = (settings.with ?? {}) as Loose;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string' || !/(?<!\$)\{/.test(value)) continue;
    report({ message: 'must not hold a placeholder: values of `with` are inserted into templates unchanged' }, [
      'with',
      name,
    ]);
  }
  for (const [name, variable] of Object.entries(preset?.with ?? {})) {
    if (given[name] !== undefined || variable.default !== undefined || variable.optional === true) continue;
    report({ message: `the preset ${preset?.preset} needs with.${name}: ${variable.description}` }, ['preset']);
  }
  const on = Object.entries((settings.on ?? {}) as Record<string, Loose>);
  for (const [path, rule] of [[[], settings] as const, ...on.map(([name, rule]) => [['on', name], rule] as const)]) {
    for (const key of ['url', 'body', 'envelope', 'unique', 'headers']) {
      const problems = templateProblems((rule?.[key] ?? null) as Json);
      for (const problem of problems) report(problem, [...path, key, ...problem.path]);
    }
  }
});

export type Settings = z.infer<typeof settingsSchema>;

export const timeoutMs = (settings: Settings): number => durationMs(settings.timeout);
