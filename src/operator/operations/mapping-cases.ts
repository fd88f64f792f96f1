import { difference } from '../../core/reconcile/difference.ts';
import type { Tx } from '../../core/store/db/pool.ts';
import { listCases, type MappingCase, putCase } from '../../core/store/documents/mapping-cases.ts';
import type { BrokenCase } from '../../errors/broken-cases.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { isObject, type Json } from '../../terms.ts';
import { withoutCards } from '../privacy/cards.ts';
import { offThread } from './off-thread.ts';

interface NewCase extends Pick<MappingCase, 'name' | 'sample' | 'push'> {
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
  /** The connector's document that produces the expected records. */
  readonly text: string;
}

/** Keeps a sample with the records that the connector text produces from it now. */
export async function saveCase(runtime: Runtime, connector: string, wanted: NewCase, by: string): Promise<void> {
  const { text, timezone = null, country = null, ...given } = wanted;
  const kept = { ...given, timezone, country, sample: withoutCards(Buffer.from(given.sample)).bytes.toString('utf8') };
  const outcome = await outcomeOf(runtime, text, kept);
  if (outcome.kind === 'invalid') throw new InnboundError('operate.invalid_input', outcome.message);
  await putCase(runtime.pool, connector, { ...kept, expected: outcome.records, saved_by: by });
}

/** Runs a connector text on each kept sample and compares the records with the expected ones. `message`: why it cannot be mapped at all. */
export async function checkCases(runtime: Context, connector: string, text: string) {
  const checked = [];
  for (const { expected, ...one } of await listCases(runtime.pool, connector)) {
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
  for (const connector of connectors) {
    for (const { name, passes, message, diff } of await checkCases(context, connector.name, connector.source))
      if (!passes) broken.push({ name, message, differences: diff.length });
  }
  return broken;
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
) {
  const property = { timezone: timezone ?? undefined, country: country ?? undefined };
  const asked = { connector, sample, push, limit: 100, ...property };
  const { mistakes, problem, records } = await offThread(runtime, 'preview', { asked, integration: undefined });
  const message = mistakes[0]?.message ?? problem?.message;
  if (message !== undefined) return { kind: 'invalid', message } as const;
  return { kind: 'ok', records: expectedOf(records) } as const;
}

/** The part of each record that a case compares: the values, not where they came from. */
function expectedOf(records: readonly Json[]): Json {
  return records.map((one): Json => {
    if (!isObject(one)) return one;
    const { kind = null, id = null, record = null, code = null } = one;
    return kind === 'record' ? { kind, record } : { kind, id, code };
  });
}
