import { writeFile } from 'node:fs/promises';
import type { Io } from '../terminal.ts';
import { type ApiCheckOptions, checkApi } from './api.ts';
import { htmlReport, type Report, terminalReport } from './report.ts';
import { type SenderCheckOptions, startSenderCheck } from './sender/check.ts';

export interface CheckOutput {
  readonly json: boolean;
  /** The file to write the report to. */
  readonly html?: string | undefined;
}

/** Exit code 0 if nothing failed, 1 otherwise. */
export async function runApiCheck(options: ApiCheckOptions, output: CheckOutput, io: Io): Promise<number> {
  io.say(
    `Checking ${options.baseUrl} with reservations of ${options.from} to ${options.to}: about twenty requests, one at a time.`,
  );
  const report = await checkApi({
    ...options,
    onRequest: ({ number, purpose, status, failure }) => io.progress(`${number}. ${purpose}: ${failure ?? status}`),
  });
  return conclude(report, output, io);
}

/** Listens until everything was observed, the time is up, or the user stops it. */
export async function runSenderCheck(options: SenderCheckOptions, output: CheckOutput, io: Io): Promise<number> {
  const check = await startSenderCheck({
    ...options,
    onProgress: ({ events, requests, waitingFor }) =>
      io.progress(`${events} events in ${requests} requests. Waiting for ${waitingFor}.`),
  });
  io.say(`Let your sender send at least three events here; the second is refused on purpose, to see the retries.
  URL     ${check.url}
  Secret  ${check.secret}
Ctrl-C ends the check early and reports what was seen.`);
  if (output.json) io.out(JSON.stringify({ url: check.url, secret: check.secret }));
  void io.ended().then(() => check.finish());
  return conclude(await check.report, output, io);
}

async function conclude(report: Report, output: CheckOutput, io: Io): Promise<number> {
  io.progress('');
  io.out(output.json ? JSON.stringify(report) : terminalReport(report, io.colour));
  if (output.html !== undefined) {
    await writeFile(output.html, htmlReport(report));
    io.say(`Report written to ${output.html}.`);
  }
  return report.passed ? 0 : 1;
}
