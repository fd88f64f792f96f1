import type { DeliveryStore } from '../../../src/deliver/ports.ts';
import type { Link } from './link.ts';
import type { StoreModel } from './state.ts';

/** The circuits of destinations; the rules are those of store/outbox/circuit.ts. */
export function circuitPorts(
  model: StoreModel,
  link: Link,
): Pick<DeliveryStore, 'noteFailure' | 'noteSignOfLife' | 'takeProbe' | 'releaseProbe'> {
  return {
    noteFailure: (destination, { unreachable, records }, { failuresToOpen, firstMs, mostMs }) =>
      link.call('noteFailure', () => {
        const isSeveral = unreachable || records.length > 1;
        const known = model.circuits.get(destination);
        if (known === undefined) {
          model.circuits.set(destination, { failures: 1, probes: 0, several: isSeveral, record: records[0] });
          return { usesTry: true, isOpen: false };
        }
        known.failures += 1;
        known.several ||= isSeveral || known.record !== records[0];
        const isOpen = known.several && known.failures >= failuresToOpen;
        known.openedAt = isOpen ? (known.openedAt ?? model.now()) : undefined;
        known.probeAt = isOpen ? model.now() + Math.min(firstMs * 2 ** Math.min(known.probes, 30), mostMs) : undefined;
        return { usesTry: !known.several, isOpen };
      }),
    noteSignOfLife: (destination) => link.call('noteSignOfLife', () => void model.circuits.delete(destination)),
    takeProbe: (destination, leaseMs) =>
      link.call('takeProbe', () => {
        const circuit = model.circuits.get(destination);
        if (circuit?.openedAt === undefined || (circuit.probeAt ?? 0) > model.now()) return false;
        circuit.probes += 1;
        circuit.probeAt = model.now() + leaseMs;
        return true;
      }),
    releaseProbe: (destination) =>
      link.call('releaseProbe', () => {
        const circuit = model.circuits.get(destination);
        if (circuit === undefined || circuit.probes === 0) return;
        circuit.probes -= 1;
        circuit.probeAt = model.now();
      }),
  };
}
