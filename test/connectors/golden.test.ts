import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { parse } from 'yaml';
import { compileCheck } from '../../src/core/brand/compile-check.ts';
import { reservationFields } from '../../src/core/canonical/fields.ts';
import type { Connector } from '../../src/core/documents/connector.ts';
import { schemas } from '../../src/core/documents/kinds.ts';
import { loadWorkspace } from '../../src/core/documents/load.ts';
import { connectorNames, connectorsDir, readCases, runCase } from './cases.ts';

let connectors: ReadonlyMap<string, { readonly body: Connector }> = new Map();

before(async () => {
  // As connectors of a workspace: shipped ones are compiled only if a brand uses them.
  const loaded = await loadWorkspace(path.dirname(connectorsDir), { checks: [compileCheck] });
  assert.ok(loaded.kind === 'ok', JSON.stringify(loaded, null, 2));
  connectors = loaded.documents.connectors;
});

function connectorOf(name: string): Connector {
  const found = connectors.get(name);
  assert.ok(found, `${name}/connector.yaml must name itself ${name}`);
  return found.body;
}

test('every shipped connector is valid and named after its folder', () => {
  assert.deepEqual([...connectors.keys()].sort(), connectorNames);
});

for (const name of connectorNames) {
  for (const golden of readCases(name)) {
    test(`${golden.name}: ${golden.about}`, () => {
      const { records, drift } = runCase(connectorOf(name), golden);
      assert.deepEqual(records, golden.records);
      assert.deepEqual(drift, golden.drift);
    });
  }

  test(`${name}: its cases cover the list, every field that it maps, and more than one status`, () => {
    const lists = readCases(name).filter(({ response }) => response !== undefined);
    assert.ok(lists.length > 0, 'a case with a list');
    const seen = new Set(lists.flatMap(({ records }) => records.flatMap((record) => Object.keys(record))));
    const { map } = connectorOf(name);
    const mapped = Object.keys(reservationFields).filter((field) => {
      const said = map?.[field as keyof typeof reservationFields];
      return said !== undefined && said !== false;
    });
    assert.deepEqual(
      mapped.filter((field) => !seen.has(field)),
      [],
    );
    assert.ok(new Set(lists.flatMap(({ records }) => records.map(({ status }) => status))).size > 1);
  });

  test(`${name}: its page says what is covered, against which version, and what is not`, () => {
    const page = readFileSync(path.join(connectorsDir, name, 'README.md'), 'utf8');
    for (const heading of ['## Against', '## Covered', '## Not covered']) assert.ok(page.includes(heading), heading);
    const isSystem = connectorOf(name).system !== undefined;
    assert.equal(isSystem, !name.startsWith('reference'), 'what people look a system up by');
    if (!isSystem) return;
    const blocks = [...page.matchAll(/```yaml\n(integration:[\s\S]*?)```/g)].map(([, block]) => block ?? '');
    assert.equal(blocks.length, 1, 'one complete integration');
    const integration = schemas.integration.parse(parse(blocks[0] ?? ''));
    const prefix = `${name.toUpperCase().replaceAll('-', '_')}_`;
    assert.equal(integration.brand_id, `\${env:${prefix}PROPERTY}`);
    const known = 'TOKEN|CLIENT_ID|CLIENT_SECRET|USERNAME|PASSWORD|API_KEY|REFRESH_TOKEN|PROPERTY';
    for (const [reference] of page.matchAll(/\$\{(?:env|secret):[^}]+\}/g)) {
      assert.match(reference, new RegExp(`^\\$\\{env:${prefix}(${known})\\}$`));
    }
    assert.match(page, /## Credentials\n\n- /, 'where the vendor’s settings have them');
  });
}
