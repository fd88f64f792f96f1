import { partnerCircuit } from '../circuit.ts';
import type { AskLimits, AskPorts } from './ports.ts';

export const askLimits: AskLimits = { parkMs: 30_000, cooldownMs: partnerCircuit.firstMs };

export const limitsOf = ({ limits }: Pick<AskPorts, 'limits'>): AskLimits => ({ ...askLimits, ...limits });
