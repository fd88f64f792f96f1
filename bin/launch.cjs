/**
 * Becomes the given Node. Runs on any Node from 20 on. Where Node cannot exec, a child takes over: signals are forwarded to it, and its
 * exit code or signal becomes ours.
 */
const { spawn } = require('node:child_process');
const os = require('node:os');

function launch(node, args, env, advice) {
  if (process.platform !== 'win32' && typeof process.execve === 'function') process.execve(node, [node, ...args], env);

  const child = spawn(node, args, { env, stdio: 'inherit' });
  // A terminal sends its Ctrl-C to the child as well; forwarding it would make it two, and the second one means "at once".
  const atTerminal = [0, 1, 2].some((fd) => require('node:tty').isatty(fd));
  const forward = (signal) => (signal === 'SIGINT' && atTerminal ? undefined : child.kill(signal));
  const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', ...(os.constants.signals.SIGUSR2 ? ['SIGQUIT', 'SIGUSR2'] : [])];
  for (const signal of forwarded) process.on(signal, forward);
  child.on('error', (error) => {
    console.error(`innbound: ${node} could not be started: ${error.message}. ${advice}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const each of forwarded) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

module.exports = { launch };
