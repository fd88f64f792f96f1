import type { ApiPorts } from '../api/api.ts';
import type { Previewed } from '../api/routes/studio.ts';
import { encodeRecord } from '../canonical/encode.ts';
import { parseDocument } from '../documents/check.ts';
import { schemas } from '../documents/kinds.ts';
import type { Mistake } from '../documents/mistake.ts';
import { parseFile } from '../documents/parse.ts';
import { pathFromText } from '../documents/path.ts';
import { openAsker } from '../intake/pull/ask.ts';
import { mostTries } from '../intake/pull/delays.ts';
import { limitsOf } from '../intake/pull/limits.ts';
import { paginatorFor } from '../intake/pull/paginate/paginate.ts';
import { fetchRelated, withTables } from '../intake/pull/related.ts';
import { listValues, openRequest } from '../intake/pull/request.ts';
import { addDays, todayAt } from '../intake/pull/windows.ts';
import { systemClock } from '../kit/clock.ts';
import { parseJson } from '../kit/json.ts';
import { compilePath, type Path } from '../pipeline.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { RawRecord } from '../shape/config.ts';
import { suggestionYaml } from '../suggest/print.ts';
import { suggestConnector } from '../suggest/suggest.ts';
import type { IntegrationName, Json, JsonObject } from '../terms.ts';
import { syncTypes } from '../terms.ts';
import { pullPorts } from '../wiring/pull.ts';

/** The mapping studio: the path itself, run over a text that nobody applied yet. */
export function studioPorts(runtime: Runtime): ApiPorts['studio'] {
  return {
    preview: async (asked) => preview(runtime, asked),
    suggest: async (sample, name) => suggest(sample, name),
    fetchPage: (integration) => fetchPage(runtime, integration as IntegrationName),
  };
}

function suggest(sample: string, name: string): Awaited<ReturnType<ApiPorts['studio']['suggest']>> {
  let value: Json;
  try {
    value = parseJson(sample);
  } catch (error) {
    return { kind: 'nothing', message: `The sample is not JSON: ${(error as Error).message}` };
  }
  const suggestion = suggestConnector(value, { name });
  if (suggestion.kind === 'nothing') return suggestion;
  const { fields, unmapped, unknown } = suggestion;
  const plain = fields.map((line) => ({ ...line })) as unknown as Json;
  return { kind: 'ok', connector: suggestionYaml(suggestion), fields: plain, unmapped, unknown };
}

type Asked = Parameters<ApiPorts['studio']['preview']>[0];
const file = 'connector.yaml';

function preview(runtime: Runtime, { connector: text, sample, integration, push, limit }: Asked): Previewed {
  const failed = (mistakes: readonly Mistake[]): Previewed => ({ mistakes, total: 0, records: [] });
  const parsed = parseDocument(text, file, 'connector');
  if (parsed.kind === 'invalid') return failed(parsed.mistakes);
  const connector = schemas.connector.parse(parsed.document.body);
  const body =
    (integration === undefined ? undefined : runtime.active().integrations.get(integration)?.body) ??
    schemas.integration.parse({
      integration: 'sample',
      connector: connector.connector,
      brand_id: 'sample',
      timezone: 'UTC',
    });
  const compiled = compilePath(connector, body);
  if (compiled.kind === 'invalid') {
    const { mistakeAt } = parseFile({ kind: 'connector', file, text });
    return failed(
      compiled.problems
        .filter(({ document }) => document === 'connector')
        .map(({ path, message, offset }) =>
          mistakeAt({ path: pathFromText(path), at: 'value', message, ...(offset !== undefined && { offset }) }),
        ),
    );
  }
  const found = readSample(compiled.path, sample, push);
  if (found.kind === 'invalid') return { ...failed([]), problem: { code: found.code, message: found.message } };
  const records = found.records.slice(0, limit).map((raw) => previewOne(compiled.path, raw, push));
  return { mistakes: [], total: found.records.length, records };
}

function readSample(path: Path, sample: string, push: boolean) {
  let value: Json;
  try {
    value = parseJson(sample);
  } catch (error) {
    const message = `The sample is not JSON: ${(error as Error).message}`;
    return { kind: 'invalid', code: 'operate.invalid_input', message } as const;
  }
  if (!push) return path.shaper.records(value);
  const data = isObject(value) && isObject(value.data) ? value.data : value;
  const single = path.pushShaper.single(data);
  return single.kind === 'ok' ? ({ kind: 'ok', records: [single.record] } as const) : single;
}

function previewOne(path: Path, raw: RawRecord, push: boolean): Json {
  const prepared = path.prepare(raw, { mode: push ? 'push' : 'pull', effectiveAt: 0, cause: 'replay', causeId: 'map' });
  if (prepared.kind === 'dead') {
    const { id, code, message, detail } = prepared.deadLetter;
    return { kind: 'dead', ...(id !== undefined && { id }), code, message, detail };
  }
  if (prepared.kind === 'dropped') return { kind: 'dropped', id: prepared.id, message: prepared.reason };
  const { id, record, notes } = prepared.incoming;
  const shaper = push ? path.pushShaper : path.shaper;
  return {
    kind: 'record',
    id,
    record: parseJson(encodeRecord(record)),
    notes: notes as unknown as Json,
    origins: prepared.incoming.origins(),
    unmapped: [...shaper.unmapped(raw)],
  };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Fetched = Awaited<ReturnType<ApiPorts['studio']['fetchPage']>>;
/** A person waits for it. */
const patienceMs = 20_000;
/** What is waited for on a partner's or the breaker's word; longer is told instead. */
const pauseMs = 3_000;

/** The first page of the first day of the first sync: the least that shows how the partner answers. */
async function fetchPage(runtime: Runtime, integration: IntegrationName): Promise<Fetched> {
  const ports = { ...pullPorts(runtime), limits: { parkMs: pauseMs } };
  const planned = await ports.plan(integration);
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code, message: planned.message };
  const { settings } = planned.plan;
  const sync = syncTypes.find((type) => settings.syncs[type] !== undefined);
  const chosen = sync && settings.syncs[sync];
  const from = addDays(todayAt(settings.timezone, systemClock.now()), chosen?.fromDays ?? 0);
  const window = { from, to: addDays(from, Math.min(settings.stepDays, 7) - 1) };
  const values = listValues({
    window,
    timezone: settings.timezone,
    brandId: settings.brandId,
    ...(sync && { sync }),
    ...(chosen?.status !== undefined && { status: chosen.status }),
  });
  const paginator = paginatorFor(settings.pagination);
  const request = openRequest(settings.request, settings.baseUrl, values, paginator.placements(paginator.first));
  const asker = openAsker(ports, planned.plan, {
    parkable: true,
    isPatient: () => false,
    signal: AbortSignal.timeout(patienceMs),
  });
  const counts = { requests: 0, retries: 0, waitedMs: 0 };
  // One try: whoever waits is better told what is wrong than kept through pauses, and can ask again.
  const tried = { failures: mostTries - 1, waits: 0, waitedMs: 0 };
  const asked = await asker.ask(request, { canShrink: false, firstPage: true, tried, counts });
  if (asked.kind === 'answer') {
    const body = asked.body ?? null;
    const rows = planned.plan.shaper.rows(body);
    const got = await fetchRelated(asker, settings, rows, { counts, tried, mostPages: limitsOf(ports).pages });
    const whole = got.kind === 'tables' ? withTables(body, got.tables) : undefined;
    return { kind: 'page', sample: JSON.stringify(whole ?? body, null, 2), window };
  }
  if (asked.kind === 'failed' || asked.kind === 'shrink') {
    return { kind: 'failed', code: asked.code, message: asked.message };
  }
  if (asked.kind === 'park') {
    const seconds = Math.ceil(asked.ms / 1000);
    return asked.reason === 'breaker'
      ? { kind: 'failed', code: 'pull.breaker_open', message: `The partner is given rest for another ${seconds} s.` }
      : { kind: 'failed', code: 'pull.rate_limited', message: `The partner asks us to wait for ${seconds} s.` };
  }
  return { kind: 'failed', code: 'pull.timeout', message: `The partner took longer than ${patienceMs / 1000} s.` };
}
