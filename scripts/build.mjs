// `npm run build [-- FOLDER]`: compiles src/ to dist/ or to a folder, file by file, for what is published and for the image: Node
// strips types nowhere inside node_modules. Development needs no build.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { needNode } from './need-node.mjs';

needNode();
const out = path.resolve(process.argv[2] ?? fileURLToPath(new URL('../dist', import.meta.url)));
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
fs.rmSync(out, { recursive: true, force: true });
const tsc = ['-p', 'tsconfig.build.json', '--outDir', out];
const compiled = spawnSync('node_modules/.bin/tsc', tsc, { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
// Pages and the like lie beside the code that serves them.
fs.cpSync('src', out, { recursive: true, filter: (file) => !file.endsWith('.ts') });
