import type { BrokenCase } from '../errors/broken-cases.ts';
import { InnboundError } from '../errors.ts';
import { withoutCards } from '../privacy/cards.ts';
import { difference } from '../reconcile/difference.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tx } from '../store/db/pool.ts';
import { listCases, type MappingCase, putCase } from '../store/documents/mapping-cases.ts';
import { isObject, type Json } from '../terms.ts';
import { offThread } from './off-thread.ts';
import type { Previewed } from './preview-mapping.ts';

export interface NewCase {
  readonly name: string;
  readonly sample: string;
  readonly push: boolean;
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
  /** The connector's document that produces the expected records. */
  readonly text: string;
}

export interface CheckedCase extends Omit<MappingCase, 'expected'> {
  readonly passes: boolean;
  readonly diff: readonly object[];
  /** Why the sample cannot be mapped at all. */
  readonly message: string | null;
}

const most = 100;

/** Keeps a sample with the records that the connector text produces from it now. */
export async function saveCase(runtime: Runtime, connector: string, wanted: NewCase, by: string): Promise<void> {
  const { name, push, timezone = null, country = null } = wanted;
  const sample = withoutCards(Buffer.from(wanted.sample)).bytes.toString('utf8');
  const outcome = await outcomeOf(runtime, wanted.text, { sample, push, timezone, country });
  if (outcome.kind === 'invalid') throw new InnboundError('operate.invalid_input', outcome.message);
  await putCase(runtime.pool, connector, {
    name,
    sample,
    push,
    timezone,
    country,
    expected: outcome.records,
    saved_by: by,
  });
}

/** Runs a connector text on each kept sample and compares the records with the expected ones. */
export async function checkCases(runtime: Context, connector: string, text: string): Promise<CheckedCase[]> {
  const cases = await listCases(runtime.pool, connector);
  const checked: CheckedCase[] = [];
  for (const { expected, ...one } of cases) {
    const outcome = await outcomeOf(runtime, text, one);
    const diff = outcome.kind === 'ok' ? difference(expected, outcome.records) : [];
    const passes = outcome.kind === 'ok' && diff.length === 0;
    checked.push({ ...one, passes, diff, message: outcome.kind === 'ok' ? null : outcome.message });
  }
  return checked;
}

/** What a check of cases needs: a runtime, or a part of one that is being opened. */
type Context = Pick<Runtime, 'pool' | 'offload'>;

/** The cases of connectors that their new texts would break. */
export async function casesBrokenBy(
  context: Context,
  connectors: readonly { readonly name: string; readonly source: string }[],
): Promise<BrokenCase[]> {
  const broken: BrokenCase[] = [];
  for (const { name, source } of connectors) broken.push(...(await brokenCases(context, name, source)));
  return broken;
}

/** The cases of a connector that a new text of it would break. */
export async function brokenCases(runtime: Context, connector: string, text: string): Promise<BrokenCase[]> {
  const checked = await checkCases(runtime, connector, text);
  return checked
    .filter(({ passes }) => !passes)
    .map(({ name, message, diff }) => ({ name, message, differences: diff.length }));
}

/** From now on the cases expect the records that the text produces. A case that cannot be mapped at all does not change. */
export async function acceptCases(
  runtime: Runtime,
  /** The transaction that puts the connector in force. */
  tx: Tx,
  { name, source }: { readonly name: string; readonly source: string },
  by: string,
): Promise<void> {
  for (const one of await listCases(tx, name)) {
    const outcome = await outcomeOf(runtime, source, one);
    if (outcome.kind === 'invalid' || difference(one.expected, outcome.records).length === 0) continue;
    await putCase(tx, name, { ...one, expected: outcome.records, saved_by: by });
  }
}

async function outcomeOf(
  runtime: Context,
  connector: string,
  { sample, push, timezone, country }: Pick<MappingCase, 'sample' | 'push' | 'timezone' | 'country'>,
): Promise<{ readonly kind: 'ok'; readonly records: Json } | { readonly kind: 'invalid'; readonly message: string }> {
  const asked = {
    connector,
    sample,
    push,
    limit: most,
    ...(timezone !== null && { timezone }),
    ...(country !== null && { country }),
  };
  const { mistakes, problem, records } = await offThread(runtime, 'preview', { asked, integration: undefined });
  const message = mistakes[0]?.message ?? problem?.message;
  return message === undefined ? { kind: 'ok', records: expectedOf(records) } : { kind: 'invalid', message };
}

/** The part of each record that a case compares: the values, not where they came from. */
function expectedOf(records: Previewed['records']): Json {
  return records.map((one): Json => {
    if (!isObject(one)) return one;
    const { kind = null, id = null, record = null, code = null } = one;
    return kind === 'record' ? { kind, record } : { kind, id, code };
  });
}
