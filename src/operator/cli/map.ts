import path from 'node:path';
import { encodeRecord } from '../../core/canonical/reservation.ts';
import { decide, read } from '../../core/pipeline.ts';
import { InnboundError } from '../../errors.ts';
import { indented, parseJson } from '../../kit/json.ts';
import type { Json } from '../../terms.ts';
import { pathToMap } from '../operations/documents-to-map.ts';
import { fillRates, gapsText, statedBy, unlistedStatuses } from '../operations/preview-mapping.ts';
import { sampleEvent, stateSampleEvent } from '../operations/sample-event.ts';
import type { Command, CommonOptions } from './command.ts';
import { answer, io, printJson, say, show } from './io.ts';
import { count } from './progress.ts';
import { readSample } from './sample.ts';

interface Options extends CommonOptions {
  readonly sample: string;
  readonly integration?: string;
  readonly timezone?: string;
  readonly country?: string;
  readonly single?: boolean;
  readonly push?: boolean;
  readonly explain?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .requiredOption(
      '-s, --sample <file>',
      'a response from the partner (with --push, an event), as JSON or as the connector’s adapter reads it; - for standard input',
    )
    .option('-i, --integration <name>', 'use the time zone, country and rules of this integration')
    .option('--timezone <zone>', 'the time zone of the property, such as Europe/Lisbon, if there is no integration yet')
    .option('--country <code>', 'the country of the property, such as PT, for local phone numbers')
    .option('--single', 'the sample is one reservation, not a list')
    .option('--push', 'the sample is an event, not a list')
    .option('--explain', 'with --json: {record, origins, notes, drift, unmapped} instead of the record alone')
    .notes(`
Stores nothing and sends no requests. Needs no workspace for a connector that comes with Innbound. With --json each line is one
canonical record; a record that fails is {"error": …}, and the command exits with 1.

Examples:
  innbound map acme-pms --sample response.json
  curl -s … | innbound map acme-pms --sample - --json`)
    .action(async (name: string, options: Options) => {
      if (options.integration === undefined) warnOfAssumptions(options);
      const { integration, timezone, country } = options;
      const property = { timezone, country };
      const workspace = path.resolve(options.workspace);
      const { path: route, connector, adapter } = await pathToMap(workspace, name, integration, property);
      const body = await readSample(options.sample, options.push ? undefined : adapter);
      const mode = options.push ? 'push' : options.single ? 'single' : 'pull';
      const shaper = route.shapers[mode];
      const sample = options.push ? sampleEvent(connector, body) : undefined;
      if (sample?.kind === 'invalid') throw new InnboundError(sample.code, sample.message);
      if (sample?.kind === 'thin') {
        answer(options, { thin: sample.id }, `→ ${sample.id}: ${sample.message}`);
        return;
      }
      const event = sample?.event;
      const shaped = mode === 'pull' ? shaper.records(body) : shaper.single(event === undefined ? body : event.data);
      if (shaped.kind === 'invalid') throw new InnboundError(shaped.code, shaped.message);
      const records = 'records' in shaped ? shaped.records : [shaped.record];
      const ids = new Map<string, number>();
      const unmapped = new Map<string, number>();
      const mapped: Json[] = [];
      let dead = 0;
      /** Where the values of each field came from, over all records. */
      const sources = new Map<string, Set<string>>();
      for (const raw of records) {
        const arrival = { mode, effectiveAt: 0, cause: 'replay', causeId: 'map' } as const;
        const said = event ? stateSampleEvent(route, event, arrival) : read(route, raw, arrival);
        const stated = statedBy(said);
        if (stated !== undefined) {
          // Its reservation is stored already, or in the same answer.
          answer(
            options,
            options.explain ? { record: stated, partial: true } : stated,
            `+ ${raw.key}: adds to the reservation of this id: ${JSON.stringify(stated)}\n`,
          );
          continue;
        }
        const made = decide(route, undefined, said);
        if (made.kind === 'dead') {
          io().exitCode = 1;
          dead++;
          const { code, message, detail } = made.deadLetter;
          if (options.json) printJson({ error: { code, message, detail } });
          else {
            show(`✗ ${raw.key || '(no id)'}: ${code}: ${message}\n`);
            for (const one of namesOf(shaper.unmapped(raw))) unmapped.set(one, (unmapped.get(one) ?? 0) + 1);
          }
          continue;
        }
        if (made.kind !== 'change') {
          if (!options.json) show(`– ${said.id}: dropped: ${made.reason}\n`);
          continue;
        }
        const { record, notes } = made;
        const { id, drift = [] } = said;
        ids.set(id, (ids.get(id) ?? 0) + 1);
        mapped.push(parseJson(encodeRecord(record)));
        const explained = {
          origins: said.origins ?? shaper.origins(raw),
          notes,
          drift,
          unmapped: shaper.unmapped(raw),
        };
        if (options.json && options.explain)
          show(`{"record":${encodeRecord(record)},${JSON.stringify(explained).slice(1)}`);
        else if (options.json) show(encodeRecord(record));
        else {
          show(indented(encodeRecord(record)));
          for (const note of notes) show(`  ~ ${note.field}: ${note.reason}`);
          for (const { field, value } of drift)
            show(`  ! ${field}: the value map has no entry for ${JSON.stringify(value)}`);
          for (const [field, from] of Object.entries(explained.origins)) {
            const name = withoutPlaces(field);
            sources.set(name, (sources.get(name) ?? new Set()).add(withoutPlaces(from)));
          }
          for (const one of namesOf(explained.unmapped)) unmapped.set(one, (unmapped.get(one) ?? 0) + 1);
          show('');
        }
      }
      if (sources.size > 0) show('from:');
      for (const [field, from] of sources) show(`  ${field.padEnd(28)} ← ${[...from].join(', ')}`);
      for (const [id, times] of ids)
        if (times > 1)
          say(`Warning: ${times} records have the id ${id}; a run keeps the last one. Is it the id of a reservation?`);
      const unmatched = shaper.unmatched(records);
      if (unmatched.length > 0) {
        say(
          `Warning: these paths of the mapping match nothing in ${records.length === 1 ? 'the record' : `any of the ${records.length} records`}:`,
        );
        for (const { at, text } of unmatched) say(`  ${at}: ${text}`);
      }
      if (unmapped.size > 0) {
        show('not mapped:');
        for (const [at, times] of unmapped)
          show(`  ${at}${times === records.length ? '' : ` (in ${times} of ${records.length} records)`}`);
      }
      const unlisted = unlistedStatuses(mapped).map(({ status, times }) => `${status} (${count(times, 'record')})`);
      if (unlisted.length > 0)
        say(`Warning: values.status does not list: ${unlisted.join(', ')}. These records are "other".`);
      const gaps = gapsText(fillRates(mapped));
      if (!options.json && gaps !== '') say(`Not everywhere: ${gaps}.`);
      const lost = dead === 0 ? '' : `, ${dead} of them ${dead === 1 ? 'a dead letter' : 'dead letters'}`;
      if (!options.json) say(`${count(records.length, 'record')}${lost}`);
    });
}

/** A path without indexes, and with one name for all keys that are dates: one line for a list, or for an object of days. */
const withoutPlaces = (path: string): string =>
  path.replace(/\[\d+\]/g, '[]').replace(/(['"]?)\b\d{4}-?\d{2}-?\d{2}\b\1/g, '(date)');

const namesOf = (paths: readonly string[]): Set<string> => new Set(paths.map(withoutPlaces));

/** Dates of instants and local phone numbers depend on the property. */
function warnOfAssumptions({ timezone, country }: Options): void {
  const assumed = [
    ...(timezone === undefined ? ['times are read in UTC (--timezone)'] : []),
    ...(country === undefined ? ['local phone numbers have no country (--country)'] : []),
  ];
  if (assumed.length > 0) say(`Warning: without --integration, ${assumed.join(' and ')}.`);
}
