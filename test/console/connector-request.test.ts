import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { emptyBrand } from '../../console/src/pages/onboard/brand.ts';
import { readRequest, writeRequest } from '../../console/src/pages/onboard/connector-request.ts';
import { documentOf } from '../../console/src/pages/onboard/document.ts';
import { answered, questionsIn } from '../../console/src/pages/onboard/questions.ts';

const text = `connector: harbour # ours
pull:
  # set this
  request:
    method: GET
    path: /api/reservations
    query:
      dateFrom: "{window.from}"
      dateTo: "{window.to}"
      ids: [1, 2]
  # 0.85 guessed
  pagination:
    type: page
    page: query.page
    page_size: 25
map:
  id: ref # 0.93
`;

test('the form shows the request of the document', () => {
  assert.deepEqual(readRequest(text), {
    method: 'GET',
    path: '/api/reservations',
    by: 'stay',
    from: 'dateFrom',
    to: 'dateTo',
    notation: '',
    step: '',
    more: '',
    paging: { type: 'page', page: 'query.page', page_size: '25' },
  });
  assert.equal(readRequest('a: ['), undefined);
  assert.equal(readRequest('connector: x')?.path, '');
});

test('a change of the form is a change of the text; comments, other keys and hidden values stay', () => {
  const request = readRequest(text);
  assert.ok(request);
  const written = writeRequest(text, {
    ...request,
    path: '/v2/list',
    from: 'arrivalStart',
    notation: 'DD/MM/YYYY',
    more: 'size: 50',
  });
  assert.deepEqual(parse(written).pull.request.query, {
    ids: [1, 2],
    arrivalStart: '{window.from:DD/MM/YYYY}',
    dateTo: '{window.to:DD/MM/YYYY}',
    size: 50,
  });
  assert.match(written, /harbour # ours[\s\S]*# set this[\s\S]*# 0\.85 guessed[\s\S]*ref # 0\.93/);
  assert.deepEqual(readRequest(written)?.notation, 'DD/MM/YYYY');
});

test('a POST carries its parameters in the body, and paging can change its kind', () => {
  const request = readRequest(text);
  assert.ok(request);
  const written = writeRequest(text, {
    ...request,
    method: 'POST',
    paging: { type: 'cursor', next: 'next', cursor: 'body.after' },
  });
  const { pull } = parse(written);
  assert.deepEqual(pull.request.body, { ids: [1, 2], dateFrom: '{window.from}', dateTo: '{window.to}' });
  assert.equal(pull.request.query, undefined);
  assert.deepEqual(pull.pagination, { type: 'cursor', next: 'next', cursor: 'body.after' });
});

test('a list by change, and one without dates', () => {
  const request = readRequest(text);
  assert.ok(request);
  const changes = writeRequest(text, { ...request, by: 'change', to: 'until', notation: 'epoch_s', step: '31d' });
  assert.deepEqual(parse(changes).pull.request.query, {
    ids: [1, 2],
    dateFrom: '{since:epoch_s}',
    until: '{now:epoch_s}',
  });
  assert.deepEqual(parse(changes).pull.since, { step: '31d' });
  const read = readRequest(changes);
  assert.ok(read);
  assert.deepEqual(
    [read.by, read.from, read.to, read.notation, read.step, read.more],
    ['change', 'dateFrom', 'until', 'epoch_s', '31d', ''],
  );
  const whole = writeRequest(changes, { ...read, by: 'all' });
  assert.deepEqual(parse(whole).pull.request.query, { ids: [1, 2] });
  assert.deepEqual([parse(whole).pull.window, parse(whole).pull.since], ['none', undefined]);
  const stays = writeRequest(whole, { ...request, by: 'stay', step: '' });
  assert.deepEqual(parse(stays).pull, parse(text).pull);
  assert.equal(readRequest(stays)?.by, 'stay');
  const kept = changes.replace('step: 31d', 'first: 90d');
  assert.deepEqual(parse(writeRequest(kept, { ...read, step: '7d' })).pull.since, { first: '90d', step: '7d' });
  assert.deepEqual(parse(writeRequest(kept, { ...read, step: '' })).pull.since, { first: '90d' });
  const both = readRequest('pull: { request: { query: { a: "{window.from}", b: "{window.to}", c: "{since}" } } }');
  assert.deepEqual([both?.by, both?.from, both?.to, both?.more], ['stay', 'a', 'b', 'c: {since}']);
  const bare = writeRequest('pull: { request: { path: /a } }', { ...request, by: 'all', from: '', to: '', paging: {} });
  assert.equal(parse(bare).pull.request.query, undefined);
});

test('a brand whose list is asked for by change has one sync', () => {
  const syncsWith = (query: string) => {
    const connectorText = `connector: a\npull: { request: { path: /list, query: ${query} } }\n`;
    const text = documentOf({ ...emptyBrand, name: 'a', connector: 'a', connectorText }, []).text;
    return text.match(/^ {4}\w+: \{ every/gm)?.length;
  };
  assert.equal(syncsWith('{ from: "{since}", to: "{now}" }'), 1);
  assert.equal(syncsWith('{ from: "{window.from}", changed: "{since}" }'), 3);
  assert.equal(syncsWith('{}'), 3);
});

test('a brand’s document says what was typed, whatever characters it has', () => {
  for (const baseUrl of ['https://pms.example/a: b', 'https://pms.example/v1 #2', '*alias', '{x}', 'yes']) {
    const brand = {
      ...emptyBrand,
      name: 'a',
      connector: 'a',
      timezone: 'Europe/Lisbon',
      baseUrl,
      deliver: ['null', 'crm'],
    };
    const read = parse(documentOf(brand, []).text);
    assert.deepEqual([read.pull.base_url, read.deliver, read.preview], [baseUrl, ['null', 'crm'], ['null', 'crm']]);
  }
});

test('a guess that the proposal is not sure of is a question; its answer removes the remark and nothing else', () => {
  const text = [
    '# Proposed from a sample: check every line before you use it.',
    'pull:',
    '  # 0.30 nothing in the sample shows the paging',
    '  pagination:',
    '    type: offset',
    '    limit: query.limit',
    'map:',
    '  id: id # 0.93 its name is close',
    '  source: origin # 0.55 short texts',
    '',
  ].join('\n');
  const [paging, source, ...others] = questionsIn(text);
  assert.ok(paging && source);
  assert.deepEqual(others, []);
  assert.deepEqual([paging.key, paging.value], ['pagination', 'type: offset, limit: query.limit']);
  assert.deepEqual([source.key, source.value, source.reason], ['source', 'origin', 'short texts']);
  assert.deepEqual(parse(answered(answered(text, source), paging)), parse(text));
  assert.deepEqual(questionsIn(answered(answered(text, source), paging)), []);
});
