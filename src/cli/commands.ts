import type { Command } from 'commander';

type Register = (program: Command) => void;

/** In the order of the help text: first steps, then daily work. */
const commands: ReadonlyMap<string, () => Promise<Register>> = new Map([
  ['demo', async () => (await import('./demo.ts')).registerDemo],
  ['init', async () => (await import('./init.ts')).registerInit],
  ['validate', async () => (await import('./validate.ts')).registerValidate],
  ['apply', async () => (await import('./apply.ts')).registerApply],
  ['serve', async () => (await import('./serve.ts')).registerServe],
  ['doctor', async () => (await import('./doctor.ts')).registerDoctor],
  ['sync', async () => (await import('./sync.ts')).registerSync],
  ['runs', async () => (await import('./runs.ts')).registerRuns],
  ['endpoint', async () => (await import('./endpoint.ts')).registerEndpoint],
  ['listen', async () => (await import('./listen.ts')).registerListen],
  ['consent', async () => (await import('./consent.ts')).registerConsent],
  ['import', async () => (await import('./import.ts')).registerImport],
  ['suggest', async () => (await import('./suggest.ts')).registerSuggest],
  ['map', async () => (await import('./map.ts')).registerMap],
  ['reservation', async () => (await import('./reservation.ts')).registerReservation],
  ['dead-letters', async () => (await import('./dead-letters.ts')).registerDeadLetters],
  ['profile', async () => (await import('./profile.ts')).registerProfile],
  ['refetch', async () => (await import('./refetch.ts')).registerRefetch],
  ['destination', async () => (await import('./destination.ts')).registerDestination],
  ['resend', async () => (await import('./resend.ts')).registerResend],
  ['reprocess', async () => (await import('./reprocess.ts')).registerReprocess],
  ['restored', async () => (await import('./restored.ts')).registerRestored],
  ['alerts', async () => (await import('./alerts.ts')).registerAlerts],
  ['alert', async () => (await import('./alert.ts')).registerAlert],
  ['secret', async () => (await import('./secret.ts')).registerSecret],
  ['key', async () => (await import('./key.ts')).registerKey],
  ['erase', async () => (await import('./erase.ts')).registerErase],
  ['export', async () => (await import('./export.ts')).registerExport],
  ['token', async () => (await import('./token.ts')).registerToken],
  ['partner', async () => (await import('./partner.ts')).registerPartner],
]);

/** The named command, or all of them for the help text. One is loaded alone, because all of them take half a second (two arm64 cores). */
export function loadCommands(name: string | undefined): Promise<Register[]> {
  const only = commands.get(name ?? '');
  return Promise.all((only === undefined ? [...commands.values()] : [only]).map((load) => load()));
}
