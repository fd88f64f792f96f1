import { countSealed, replacedKeys } from '../../core/store/documents/secrets.ts';
import { InnboundError } from '../../errors.ts';
import { newKey } from '../../kit/crypto.ts';
import { rotateKey } from '../operations/rotate-key.ts';
import { liveNodes } from '../store/nodes.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { say, show } from './io.ts';
import { print } from './print.ts';

export function define(key: Command): void {
  key.notes(`
Examples:
  innbound key status
  innbound key rotate        # nodes keep running; run it again if it was interrupted`);
  key
    .subcommand(
      'status',
      'show which keys seal stored values, and which keys the running nodes have; keys are shown by id',
    )
    .inRuntime(async ({ pool, keyring, keys }, options: CommonOptions) => {
      const [sealed, replaced, live] = await Promise.all([countSealed(pool), replacedKeys(pool), liveNodes(pool)]);
      const nodes = live.map(({ node, keys: own }) => ({ node, keys: own }));
      const status = { sealing: keyring[0].id, source: keys.source.name, sealed, replaced, nodes };
      print(options, status);
    });
  key
    .command('generate')
    .description('print a new key for INNBOUND_KEY, a key file or a key management service; stores nothing')
    .action(() => show(newKey().bytes.toString('base64')));
  key
    .subcommand('rotate', 'replace the key and seal every stored value with the new one')
    .option('--wait <seconds>', 'how long to wait until running nodes have the new key', '90')
    .notes(`
The workspace's own key file gets a new key by itself. With INNBOUND_KEY, INNBOUND_KEY_FILE or INNBOUND_KEY_COMMAND, put a new key
before the old one on every node first (NEW,OLD), run this command, then remove the old one.`)
    .inRuntime(async (runtime, options: CommonOptions & { wait: string }) => {
      const seconds = Number(options.wait);
      if (!(seconds >= 0))
        throw new InnboundError('operate.usage', `--wait ${options.wait} is not a number of seconds.`);
      const done = await rotateKey(runtime, { waitMs: seconds * 1000, progress: say });
      await audited(runtime, 'key.rotate', { target: { from: done.from, to: done.to, resealed: done.resealed } });
      const next =
        done.kept === undefined
          ? `Remove the old key from ${runtime.keys.source.name}. Keep a copy as long as backups from before need it.`
          : `Backups made before now need the old key: ${done.kept}.`;
      print(options, done, { next });
    });
}
