import type { ErrorEntry } from './entry.ts';

export const recordErrors = {
  'record.invalid': {
    what: 'A record could not become canonical: a field is missing or breaks a rule of the schema.',
    next: 'Read the field and the rule in the dead letter. If the value is wrong at the partner, ask the partner to correct it: the reservation arrives again by itself. If the mapping reads it from the wrong place, correct the connector, apply it and replay.',
  },
  'record.unknown_reservation': {
    what: 'A message that holds only a part of a reservation, such as a bare cancellation, is about a reservation that is not stored.',
    next: 'Fetch the reservation (innbound refetch ID, or a sync over its dates) and replay the dead letter, or drop it if the reservation is not needed. If the partner did send the fields that the message lists, correct the mapping of the connector, apply it and replay.',
  },
  'record.id_unusable': {
    what: 'The id of a reservation has control characters, is longer than 512 characters or was removed as a card number, so it cannot be a key.',
    next: 'Check which field the connector maps to id; if the mapping is right, ask the partner to correct the reservation, then replay.',
  },
  'record.too_many_items': {
    what: 'A reservation has more guests, rooms or charges than the limit (500 guests, 500 rooms, 5,000 charges).',
    next: 'Check the list in the mapping of the connector (a condition may be missing, or rows may share a key by mistake), apply it and replay.',
  },
  'record.refused_by_store': {
    what: 'The database refused one record of a page. The other records of the page are stored.',
    next: 'Look at the payload of the dead letter for an unusual value (control characters, a very long text), correct the mapping or ask the partner, then replay.',
  },
  'record.unknown_status': {
    what: 'The spelling of the status is neither in the schema nor in the values of the connector.',
    next: 'Add the spelling to values.status of the connector (or set unknown_status: other), apply it and replay.',
  },
  'record.root_not_found': {
    what: 'The response has nothing where the connector expects the reservations.',
    next: 'Compare shape.root_path (or single_path) of the connector with the keys in the message; set shape.missing_is_empty if the partner omits empty lists.',
  },
  'record.not_a_list': {
    what: 'The value where the connector expects the reservations is not a list.',
    next: 'Set shape.root_path to the key of the list, or shape.object_is_one if the partner sends a single reservation as an object.',
  },
  'record.rule_failed': {
    what: 'A business rule of the integration could not be evaluated over a record.',
    next: 'Read the rule and the reason in the dead letter, correct it in transforms of the integration (has() tests for absent fields), apply it and replay.',
  },
  'record.rule_too_costly': {
    what: 'A business rule would take too long for this record: its lists or texts exceed the limits for rules.',
    next: 'Let the rule use fewer lists or shorter texts, apply it and replay.',
  },
} satisfies Record<string, ErrorEntry>;
