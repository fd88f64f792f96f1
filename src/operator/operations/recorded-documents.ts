import { activate } from '../../core/brand/active.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { mustBeThere, type Problem } from '../../core/canonical/field-check.ts';
import type { StoredDocument } from '../../core/documents/kinds.ts';
import type { RawRecord } from '../../core/shape/config.ts';
import type { Pool } from '../../core/store/db/pool.ts';
import { currentDocuments, documentAt } from '../../core/store/documents/documents.ts';
import { type ErrorCode, errors } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { isObject, type JsonObject, type Origins } from '../../terms.ts';
import type { WholeDeadLetter } from '../store/dead-letters.ts';

/** The integration and the connector at the versions that a record was read with. */
async function recordedDocuments(pool: Pool, name: string, integrationVersion: number, connectorVersion: number) {
  const integration = await documentAt(pool, 'integration', name, integrationVersion);
  const { connector: connectorName = '' } = (integration?.body ?? {}) as { connector?: string };
  const connector = await documentAt(pool, 'connector', connectorName, connectorVersion);
  return integration && connector && [connector, integration];
}

/** How a record was read, by the documents of that time. */
export async function recordedPath(pool: Pool, name: string, integrationVersion: number, connectorVersion: number) {
  const documents = await recordedDocuments(pool, name, integrationVersion, connectorVersion);
  return documents && activate(documents).integrations.get(name);
}

/** The integration at recorded versions. They map the payload; where the brand delivers to is a matter of today. */
export async function recordedIntegration(
  runtime: Runtime,
  name: string,
  integrationVersion: number,
  connectorVersion: number,
): Promise<Brand | undefined> {
  const current = runtime.active().integrations.get(name);
  const recorded = await recordedDocuments(runtime.pool, name, integrationVersion, connectorVersion);
  if (recorded === undefined || current === undefined) return undefined;
  const destinations = await currentDocuments(runtime.pool, 'destination');
  const workspace = await currentDocuments(runtime.pool, 'workspace');
  const documents = recorded.map((one) => deliveringTo(current.body.deliver, one));
  return activate([...documents, ...destinations, ...workspace], runtime.active().erasure).integrations.get(name);
}

function deliveringTo(deliver: readonly string[], document: StoredDocument): StoredDocument {
  if (document.kind !== 'integration') return document;
  return { ...document, body: { ...(document.body as JsonObject), deliver: [...deliver] } };
}

/**
 * What to do about a dead letter, by its cause, and where in its payload the fault is. `at_partner`: the data is wrong at the partner; the
 * mapping read it as intended.
 */
export async function adviseLetter(pool: Pool, letter: WholeDeadLetter) {
  const next = errors[letter.code as ErrorCode]?.next ?? '';
  const problems = problemsOf(letter);
  if (problems.length === 0) return { advice: next, at_partner: false, marks: [] };
  const origins = await originsOf(pool, letter);
  const marks = [...new Set(problems.flatMap((problem) => fieldsOf(problem).flatMap((field) => origins[field] ?? [])))];
  const missing = problems.filter(({ rule }) => rule === mustBeThere).map(({ field }) => field);
  // Two fields that contradict each other were both read: only the partner can know which one is right.
  if (problems.every(isContradiction)) {
    return { advice: `${contradictory} ${again(letter)}`, at_partner: true, marks };
  }
  if (letter.code !== 'record.invalid') return { advice: next, at_partner: false, marks };
  if (missing.length === problems.length) {
    const advice = `The mapping finds nothing for ${missing.join(', ')} in this payload. If the value is in it under another name, correct the mapping, apply it and replay. If it is not, ask the partner to send it.`;
    return { advice, at_partner: false, marks };
  }
  const advice = `If only single reservations fail like this, the value is wrong at the partner: ask for a correction. ${again(letter)} If all of them fail, the mapping reads the wrong place or format: correct it, apply it and replay.`;
  return { advice, at_partner: marks.length > 0, marks };
}

const contradictory = 'The partner’s data contradicts itself; the mapping is right. Ask the partner to correct it.';
const again = ({ cause }: WholeDeadLetter): string =>
  `The corrected reservation arrives ${cause === 'run' ? 'with the next pull' : 'as the next event'}, which closes this dead letter.`;

/** A rule about two fields has no type of a received value. */
const isContradiction = ({ rule, type }: Problem): boolean => rule !== mustBeThere && type === undefined;
const fieldsOf = ({ field, rule }: Problem): string[] => [field, ...(/\bcheck_in\b/.exec(rule) ?? [])];

function problemsOf({ detail }: WholeDeadLetter): Problem[] {
  const problems = isObject(detail) ? detail.problems : undefined;
  return Array.isArray(problems) ? (problems.filter(isObject) as unknown as Problem[]) : [];
}

/** From where in the payload each field was read, by the documents of that time. */
async function originsOf(pool: Pool, letter: WholeDeadLetter): Promise<Origins> {
  const { integration, integration_version, connector_version, raw, kind, detail } = letter;
  if (integration_version === null || connector_version === null || !isObject(raw) || raw.value === undefined)
    return {};
  const path = await recordedPath(pool, integration, integration_version, connector_version);
  const isSingle = isObject(detail) && detail.requested_by_id === true;
  const shaper = path?.shapers[kind === 'event' ? 'push' : isSingle ? 'single' : 'pull'];
  return shaper?.origins(raw as unknown as RawRecord) ?? {};
}
