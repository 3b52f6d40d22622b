// `npm run build`: compiles src/ to dist/, file by file, for what is published and for the image: Node strips types
// nowhere inside node_modules. Development needs no build.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { needNode } from './need-node.mjs';

needNode();
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
fs.rmSync('dist', { recursive: true, force: true });
const compiled = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
// Pages and the like lie beside the code that serves them.
fs.cpSync('src', 'dist', { recursive: true, filter: (file) => !file.endsWith('.ts') });
