import path from 'node:path';
import { examine } from '../operations/doctor.ts';
import type { Command, CommonOptions } from './command.ts';
import { answer, io } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .notes(`
Changes nothing. Opens a connection to each partner and destination, without a request; asks each warehouse for its tables. Exits with 1 if a node would not work; with
warnings alone it exits with 0.

Example:
  innbound doctor -w my-workspace`)
    .action(async (options: CommonOptions) => {
      const diagnoses = await examine(path.resolve(options.workspace), io().env);
      for (const one of diagnoses) {
        answer(options, one, `${marks[one.state]} ${one.check}: ${one.message}${one.next ? `\n    ${one.next}` : ''}`);
      }
      if (diagnoses.some(({ state }) => state === 'problem')) io().exitCode = 1;
    });
}

const marks = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' };
