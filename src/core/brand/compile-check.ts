import { type Bodies, schemas } from '../documents/kinds.ts';
import type { CheckFinding, DocumentCheck } from '../documents/mistake.ts';
import { compileCondition } from '../transform/condition.ts';
import { compilePlan, compileShapes, connectorProblems, type Shapes } from './compile.ts';

const noConnector = schemas.connector.parse({ connector: 'none' });

/** Finds the mistakes in mappings and rules that only compiling reveals. For `validate` and `apply`. */
export const compileCheck: DocumentCheck = ({ connectors, integrations, destinations }) => {
  const used = new Set<string>();
  const shared = new Map<string, Shapes>();
  const shapesOf = (name: string, body: Bodies['connector'], timezone: string): Shapes => {
    const key = `${name} ${timezone}`;
    const shapes = shared.get(key) ?? compileShapes(body, timezone);
    shared.set(key, shapes);
    return shapes;
  };
  const findings: CheckFinding[] = [...integrations.values()].flatMap(({ name, body }) => {
    // Rules are checked even if the connector is missing.
    const connector = connectors.get(body.connector) ?? { name: '', body: noConnector };
    const compiled = compilePlan(connector.body, body, shapesOf(connector.name, connector.body, body.timezone));
    const fresh = !used.has(connector.name);
    used.add(connector.name);
    if (compiled.kind === 'ok') return [];
    return compiled.problems
      .filter(({ document }) => document === 'integration' || fresh)
      .map(({ document, ...problem }) => ({
        document:
          document === 'connector'
            ? { kind: 'connector' as const, name: connector.name }
            : { kind: 'integration' as const, name },
        ...problem,
      }));
  });
  const unused = [...connectors.values()].filter(({ name }) => !used.has(name));
  for (const { name, body } of unused) {
    const compiled = connectorProblems(body);
    findings.push(...compiled.map((problem) => ({ document: { kind: 'connector' as const, name }, ...problem })));
  }
  for (const { name, body } of destinations.values()) {
    const problems = body.receives.flatMap((type) => {
      const compiled = body.filter === undefined ? undefined : compileCondition(body.filter, type);
      if (compiled?.kind !== 'invalid') return [];
      const whose = body.receives.length > 1 ? `receives includes ${type}, to which the filter applies too: ` : '';
      return compiled.problems.map(({ message, offset }) => ({ offset, message: whose + message }));
    });
    const [first] = problems;
    if (first)
      findings.push({
        document: { kind: 'destination', name },
        path: 'filter',
        message: first.message,
        offset: first.offset,
      });
  }
  return findings;
};
