import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { openMetrics } from '../../src/operator/api/metrics.ts';

/** The files in ops/, as far as they can be checked without running them. */

const ops = fileURLToPath(new URL('../../ops/', import.meta.url));
const read = (file: string) => readFileSync(path.join(ops, file), 'utf8');
const yaml = (file: string) =>
  parseAllDocuments(read(file), { merge: true }).map((document) => {
    assert.deepEqual(document.errors, [], file);
    return document.toJS();
  });

function expressions(): string[] {
  const dashboard = JSON.parse(read('grafana/innbound.json'));
  return [
    ...dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) => panel.targets.map(({ expr }) => expr)),
    ...yaml('prometheus/innbound.rules.yaml')[0].groups[0].rules.map(({ expr }: { expr: string }) => expr),
  ];
}

test('dashboard and rules ask only for metrics that the service has', async () => {
  const known = await openMetrics({ now: () => 0, read: () => Promise.reject(new Error('no store')) }).text();
  const names = new Set([...known.matchAll(/^# HELP (\S+)/gm)].map((match) => match[1]));
  const used = expressions().flatMap((expr) =>
    [...expr.matchAll(/\b(?:innbound|process|nodejs)_\w+/g)].map((match) => match[0]),
  );
  assert.ok(used.length > 20);
  assert.deepEqual([...new Set(used.filter((name) => !names.has(name)))], []);
});

test('they use only labels that their metrics have', () => {
  const source = readFileSync(new URL('../../src/operator/api/metrics.ts', import.meta.url), 'utf8');
  const labels = new Map(
    [...source.matchAll(/(?:gauge|counter)\(\s*'(\w+)',\s*'[^']*',?([^)]*)\)/g)].map(([, name, more = '']) => [
      `innbound_${name}`,
      new Set([...more.matchAll(/'(\w+)'/g)].map(([, label]) => label)),
    ]),
  );
  assert.ok(labels.size > 15, 'the declarations are read');
  for (const expr of expressions()) {
    const metrics = [...expr.matchAll(/innbound_\w+/g)].map(([name]) => name);
    const used = [
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map((one) => one.trim())),
      ...[...expr.matchAll(/innbound_\w+\{([^}]*)\}/g)].flatMap(([, list = '']) =>
        [...list.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label ?? ''),
      ),
    ];
    for (const label of used.filter((one) => one !== 'job' && one !== 'instance')) {
      assert.ok(
        metrics.some((name) => labels.get(name)?.has(label)),
        `${label} in ${expr}`,
      );
    }
  }
});

test('each alert says what it is about', () => {
  for (const rule of yaml('prometheus/innbound.rules.yaml')[0].groups[0].rules) {
    assert.ok(rule.alert && rule.labels.severity && rule.annotations.summary && rule.annotations.description);
  }
});

test('every YAML file parses, and nodes are started by options that serve has', () => {
  // Templates are YAML only when Helm has filled them: test/ops/chart.test.ts.
  const files = readdirSync(ops, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.yaml') && !file.includes('templates'),
  );
  assert.ok(files.length >= 4);
  for (const file of files) yaml(file);
  const { services } = yaml('compose.yaml')[0];
  const kinds = yaml('kubernetes/innbound.yaml');
  const started: string[][] = [
    services.web.command,
    services.worker.command,
    ...kinds.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec.containers[0].args),
    JSON.parse(/^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1] ?? '[]'),
  ];
  const serve = readFileSync(new URL('../../src/operator/cli/serve.ts', import.meta.url), 'utf8');
  for (const [command, ...args] of started) {
    assert.equal(command, 'serve');
    for (const option of args.filter((arg) => arg.startsWith('--'))) assert.ok(serve.includes(option), option);
  }
  for (const { kind, spec } of kinds) {
    if (kind === 'Deployment') assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
  }
});

test('compose, the chart and the manifest create a role that owns the database and is not a superuser', () => {
  const role = read('postgres/role.sql');
  assert.match(role, /create role innbound login password %L/);
  assert.match(role, /create database innbound owner innbound/);
  assert.doesNotMatch(role, /superuser (?:login|password)|createrole|createdb|bypassrls/);
  assert.equal(read('helm/innbound/role.sql'), role, 'Helm reads only files of its chart');
  const { postgres, web } = yaml('compose.yaml')[0].services;
  assert.equal(postgres.environment.POSTGRES_USER, undefined, 'the image makes that user a superuser');
  assert.ok(postgres.volumes.includes('./postgres:/docker-entrypoint-initdb.d:ro'));
  assert.match(web.environment.DATABASE_URL, /^postgres:\/\/innbound:.*\/innbound$/);
  for (const file of ['kubernetes/role.yaml', 'helm/innbound/templates/role.yaml']) {
    assert.match(read(file), /psql "\$ADMIN_URL" --no-psqlrc --file=\/role\/role\.sql/);
  }
});

test('the image copies only what is there', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    (match) => match[1]?.split(' ') ?? [],
  );
  const root = new Set(readdirSync(path.join(ops, '..')));
  for (const file of copied) assert.ok(file === '.' || root.has(file), file);
});
