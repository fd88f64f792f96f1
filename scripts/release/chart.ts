import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';

/** Renders the chart with Helm itself, in the forms that its values allow, and checks what a cluster would get. */

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly volumes: readonly { readonly name: string }[];
        readonly containers: readonly { readonly volumeMounts: readonly { readonly name: string }[] }[];
      };
    };
  };
}

const forms: readonly (readonly [set: string, kinds: readonly string[]])[] = [
  ['', ['Deployment', 'Deployment', 'Job', 'PodDisruptionBudget', 'Service']],
  ['migration.enabled=false', ['Deployment', 'Deployment', 'PodDisruptionBudget', 'Service']],
  [
    'documents.connectors=,documents.integrations=,documents.destinations=,documents.settings=innbound-settings',
    ['Deployment', 'Deployment', 'PodDisruptionBudget', 'Service'],
  ],
  [
    'ingress.enabled=true,ingress.tlsSecretName=tls,autoscaling.enabled=true',
    ['Deployment', 'Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'Job', 'PodDisruptionBudget', 'Service'],
  ],
];

export function checkChart(helm: string, chart: string): void {
  const run = (...args: string[]) => spawnSync(helm, args, { encoding: 'utf8' });
  const lint = run('lint', '--strict', chart);
  assert.equal(lint.status, 0, lint.stdout + lint.stderr);
  for (const [set, kinds] of forms) {
    const rendered = run('template', 'innbound', chart, ...(set === '' ? [] : ['--set', set]));
    assert.equal(rendered.status, 0, rendered.stderr);
    const manifests = parseAllDocuments(rendered.stdout).map((each) => each.toJS() as Manifest);
    assert.deepEqual(manifests.map(({ kind }) => kind).sort(), kinds, set);
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length, `${set}: ${names.join(', ')}`);
    for (const manifest of manifests) checkPods(manifest);
  }
  const misspelled = run('template', 'innbound', chart, '--set', 'replica=3');
  assert.notEqual(misspelled.status, 0, 'a misspelled value is refused');
}

/** A selector that misses its own pods, or a mount without a volume, is refused by a cluster and not by Helm. */
function checkPods({ kind, metadata, spec }: Manifest): void {
  const pods = spec?.template;
  if (pods === undefined) return;
  const name = `${kind} ${metadata.name}`;
  for (const [label, value] of Object.entries(spec?.selector?.matchLabels ?? {}))
    assert.equal(pods.metadata.labels[label], value, `${name}: label ${label}`);
  const volumes = new Set(pods.spec.volumes.map((each) => each.name));
  for (const mount of pods.spec.containers.flatMap((each) => each.volumeMounts))
    assert.ok(volumes.has(mount.name), `${name}: no volume ${mount.name}`);
}
