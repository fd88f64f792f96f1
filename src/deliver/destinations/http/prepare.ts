import type { Json } from '../../../terms.ts';
import type { Prepared, PreparedStep } from '../../destination.ts';
import { type AccountRequests, accountRequests, accountUrl } from './account-request.ts';
import type { PrepareStep } from './preset.ts';
import { at, parseBody, textAt } from './read-answer.ts';
import type { Request, Requested } from './request.ts';
import type { Settings } from './settings.ts';
import { compileLine, compileTemplate, type Scope } from './template.ts';

type Done = Omit<PreparedStep, 'what'> & {
  /** What was found or created, for `gives`. */
  readonly element?: Json | undefined;
};

/** What a person may paste into a document: no line break, no reference to a secret. */
const vendorName = /^[\w.:-]{1,200}$/;

/** Runs the preset's steps: looks for each thing first, and creates what is missing. */
export async function prepare(
  settings: Settings,
  request: Request,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Prepared> {
  const { preset, values, send } = accountRequests(settings, request);
  const steps: PreparedStep[] = [];
  const withSettings: Record<string, string> = {};
  for (const step of preset?.prepare ?? []) {
    for (const each of step.for) {
      const scope: Scope = { with: values, each };
      const fill = (text: string) => compileLine(text)(scope) ?? text;
      const { element, ...done } = await follow(step, scope, send, dryRun);
      steps.push({ what: fill(step.what), ...done });
      if (done.result === 'failed' || done.result === 'by_hand') return { steps, settings: withSettings };
      for (const [name, rule] of Object.entries(step.gives)) {
        const value = typeof rule === 'string' ? rule : element === undefined ? undefined : textAt(element, rule.path);
        const end = typeof rule === 'string' || rule.without === undefined ? '' : fill(rule.without);
        if (value === undefined) continue;
        if (!vendorName.test(value)) {
          const message = 'The vendor answered with something that is not a name.';
          return { steps: [...steps.slice(0, -1), { what: fill(step.what), result: 'failed', message }], settings: {} };
        }
        withSettings[name] = value.endsWith(end) ? value.slice(0, value.length - end.length) : value;
      }
    }
  }
  return { steps, settings: withSettings };
}

type Send = AccountRequests['send'];

async function follow(step: PrepareStep, scope: Scope, send: Send, dryRun: boolean): Promise<Done> {
  const { find, create } = step;
  if (find !== undefined) {
    const url = accountUrl(find.url, scope);
    const { outcome, bytes } = await send('GET', url, scope);
    const body = bytes && parseBody(bytes);
    if (outcome.kind === 'delivered' && body !== undefined) {
      const element = find.list === undefined ? body : elementOf(at(body, find.list), find.where, scope);
      if (element !== undefined) return { result: 'exists', element };
    } else if (!('status' in outcome) || outcome.status !== 404) return failed(outcome);
  }
  if (create === undefined) {
    if (find === undefined) return { result: 'exists' };
    return { result: 'by_hand', message: step.by_hand ?? 'Create it at the vendor, then run this command again.' };
  }
  if (dryRun) return { result: 'would_create' };
  const body = JSON.stringify(compileTemplate(create.body as Json)(scope));
  const { outcome, bytes } = await send(create.method, accountUrl(create.url, scope), scope, body);
  if (outcome.kind !== 'delivered') return failed(outcome);
  const answer = bytes && parseBody(bytes);
  return { result: 'created', element: answer && at(answer, create.answer) };
}

/** The vendor's answer helps here: it is about the account, not about guests. */
function failed(outcome: Requested['outcome']): Done {
  const { message = '', answer = '' } = outcome as { message?: string; answer?: string };
  return {
    result: 'failed',
    message: answer === '' ? message : `${message} ${answer.slice(0, 300).replace(/[\s\p{Cc}]+/gu, ' ')}`,
  };
}

function elementOf(list: Json | undefined, where: Readonly<Record<string, string>>, scope: Scope): Json | undefined {
  const wanted = Object.entries(where).map(([path, text]) => [path, compileLine(text)(scope)] as const);
  return Array.isArray(list)
    ? list.find((one) => wanted.every(([path, text]) => textAt(one, path) === text))
    : undefined;
}
